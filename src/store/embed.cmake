# cmake -DOUT=file.c -DFILES=symbol=path,... -P embed.cmake
#
# Writes each file as a NUL-terminated array of bytes: string literals of that
# length are not portable C, and a second copy of the SQL would drift.
string(REPLACE "," ";" FILES "${FILES}")
set(text "/* Generated from profiles/; do not edit. */\n")
string(APPEND text "#include \"db/store_sql.h\"\n\n")
foreach(pair IN LISTS FILES)
    string(REGEX MATCH "^([^=]+)=(.+)$" _ "${pair}")
    set(symbol "${CMAKE_MATCH_1}")
    file(READ "${CMAKE_MATCH_2}" hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex
        "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " hex "${hex}")
    string(APPEND text "const char ${symbol}[] = {\n${hex}0};\n")
endforeach()
file(WRITE "${OUT}" "${text}")
