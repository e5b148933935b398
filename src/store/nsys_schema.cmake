# cmake -DSCHEMA=schema.sql -DMORE=nsys_schema.sql -DOUT=file.sql
#       -P nsys_schema.cmake
#
# The tables of an Nsight Systems export are those that schema.sql has under
# that head, without the columns that are ours, and those of MORE: written down
# once, they cannot drift.
file(READ "${SCHEMA}" text)
string(FIND "${text}" "Nsight Systems' tables\n" at)
if(at EQUAL -1)
    message(FATAL_ERROR "${SCHEMA}: no head \"Nsight Systems' tables\"")
endif()
string(SUBSTRING "${text}" ${at} -1 text)
string(REGEX REPLACE "--[^\n]*" "" text "--${text}") # the head too
string(REGEX REPLACE "(INSERT INTO|CREATE UNIQUE INDEX) [^;]*;" "" text
    "${text}")
string(REGEX REPLACE ",[ \n]*runId INTEGER( NOT NULL)?" "" text "${text}")
string(REGEX REPLACE ",[ \n]*(kernel|memcpy|memset)Row INTEGER PRIMARY KEY" ""
    text "${text}")
if(text MATCHES "runId|Row INTEGER|INSERT")
    message(FATAL_ERROR "${SCHEMA}: what is ours is still in: ${CMAKE_MATCH_0}")
endif()
file(READ "${MORE}" more)
file(WRITE "${OUT}" "${text}${more}")
