# Passes if the test of the plugins finds each seeded fault, and none where there is none.
#
# Script variables: PROGRAM, FOLDER (of the plugins with faults), DATA, EXPECT_FAILURE (the script
# that runs a program that has to fail).

set(TRIES 1)
set(common --plugins ${FOLDER} --data ${DATA} --images 96 --rounds 3 --changes 6 --drain-ms 100)

execute_process(COMMAND_ERROR_IS_FATAL ANY
    COMMAND ${PROGRAM} alone ${common} --only fault_none)

# fault(<name> <mode> <report>): what has to be said of it.
macro(fault name mode report)
    set(program ${PROGRAM})
    set(PROGRAM ${program} ${mode} ${common} --only fault_${name})
    set(REPORT "${report}")
    include(${EXPECT_FAILURE})
    set(PROGRAM ${program})
endmacro()

fault(off alone "a logit is too far from the reference .by 0.00[12]")
fault(rare alone "another class than the reference")
fault(stale alone "after a change of weights: image 0: a logit is too far")
fault(strides alone "conv2d of case 5, turn 0: element")
fault(tensor swap "tensors: [0-9]+ after the first round")
fault(scratch swap "the heap has grown")
fault(lease alone "does not drain: .* is still in use")
