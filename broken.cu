''',1)
s=s.replace('''    run sim broken.cu --compiler $compiler --grid 1 --block 1
''','''    run sim chain.cu --compiler $compiler --grid 2 --block 64 --json \\
        --arg 'out:int[64]' --arg 'inout:int[1]=zero' --arg 'inout:int[64]=zero' \\
        --arg 'in:int[64]=iota'
    expect_exit 1
    expect_json '[(f["check"], f["line"]) for f in of("finding")] ==
        [("memory", 13), ("race", 19)]'
    run sim broken.cu --compiler $compiler --grid 1 --block 1
''',1)
open(p,'w').write(s)
