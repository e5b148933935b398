# cmake -DOUT=file.c -DFILES=symbol=path,... -DOLDEST=version -P embed.cmake
#
# Writes each file as a NUL-terminated array of bytes: string literals of that
# length are not portable C, and a second copy of the SQL would drift. Then the list
# of the schema's steps, lab_sql_schema, lab_sql_schema_2 ..., and for each version
# from OLDEST on the views with which a database of that version is read as it is:
# columns that later steps add are NULL, tables that they make are empty.
string(REPLACE "," ";" FILES "${FILES}")
set(text "/* Generated from profiles/; do not edit. */\n")
string(APPEND text "#include \"db/store_priv.h\"\n\n")

function(add_bytes symbol hex)
    string(REGEX REPLACE "(................................)" "\\1\n" hex
        "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " hex "${hex}")
    set(text "${text}const char ${symbol}[] = {\n${hex}0};\n" PARENT_SCOPE)
endfunction()

set(steps "")
set(version 0)
foreach(pair IN LISTS FILES)
    string(REGEX MATCH "^([^=]+)=(.+)$" _ "${pair}")
    set(symbol "${CMAKE_MATCH_1}")
    set(path "${CMAKE_MATCH_2}")
    file(READ "${path}" hex HEX)
    add_bytes(${symbol} "${hex}")
    if(symbol MATCHES "^lab_sql_schema(_[0-9]+)?$")
        string(APPEND steps "{${symbol}}, ")
        set(step_${version} "${path}") # from this version to the next
        math(EXPR version "${version} + 1")
    endif()
endforeach()

math(EXPR last "${version} - 1")
set(readings "")
foreach(from RANGE ${OLDEST} ${last})
    set(tables "")
    set(made "") # with the columns that steps after theirs add
    set(sql "PRAGMA temp_store = MEMORY;\n")
    foreach(at RANGE ${from} ${last})
        file(READ "${step_${at}}" statements) # each ends with a semicolon: a list
        string(REGEX REPLACE "--[^\n]*" "" statements "${statements}")
        string(REGEX REPLACE "[ \n]+" " " statements "${statements}")
        foreach(statement IN LISTS statements)
            string(STRIP "${statement}" statement)
            string(REGEX MATCH "TABLE ([A-Za-z_]+)" _ "${statement}")
            list(FIND made "${CMAKE_MATCH_1}" is_made)
            if(statement STREQUAL "")
                continue()
            elseif(statement MATCHES "^CREATE TABLE ([A-Za-z_]+) [(]")
                list(APPEND made ${CMAKE_MATCH_1})
                string(REGEX REPLACE "^CREATE" "CREATE TEMP" statement "${statement}")
                string(APPEND sql "${statement};\n")
            elseif(NOT statement MATCHES "^ALTER TABLE ([A-Za-z_]+) ADD COLUMN ([A-Za-z_]+) ")
                message(FATAL_ERROR "${step_${at}}: a database of version ${from} is "
                    "not this one without columns and tables (${statement}): raise "
                    "OLDEST in src/store/CMakeLists.txt")
            elseif(is_made GREATER -1)
                string(APPEND sql "${statement};\n")
            else()
                list(APPEND tables ${CMAKE_MATCH_1})
                string(APPEND columns_${from}_${CMAKE_MATCH_1}
                    ", NULL AS ${CMAKE_MATCH_2}")
            endif()
        endforeach()
    endforeach()
    list(REMOVE_DUPLICATES tables)
    foreach(table IN LISTS tables)
        string(APPEND sql "CREATE TEMP VIEW ${table} AS SELECT *"
            "${columns_${from}_${table}} FROM main.${table};\n")
    endforeach()
    string(HEX "${sql}" hex)
    add_bytes("lab_sql_reading_${from}" "${hex}")
    string(APPEND readings "lab_sql_reading_${from}, ")
endforeach()
string(APPEND text "const struct lab_migration lab_sql_migrations[] = {${steps}};\n"
    "const int lab_sql_migration_count = ${version};\n"
    "const char *const lab_sql_readings[] = {${readings}};\n"
    "const int lab_sql_oldest_read = ${OLDEST};\n")
file(WRITE "${OUT}" "${text}")
