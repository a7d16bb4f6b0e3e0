/*
 * test_storms.c - storms of the swarm that once ended badly, each with what was wrong then. They
 * are the same from run to run only while the engine sends the same packets, so a later change may
 * turn one into another storm: it has to end well all the same.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../tools/storm.h"

typedef struct {
    uint64_t seed;
    const char *cause;
} past_storm;

static const past_storm PAST[] = {
    {5, "a turn went on after the engine had been closed"},
    {6, "a member was asked about a dead sender of whom it was never told"},
    {34, "a healed link went on losing the rest of a burst"},
    {36, "newcomers were sent to before older messages had arrived everywhere"},
    {53, "a region was dissolved before all had what its executor had never heard of"},
    {62, "somebody counted out unseen came back into a view as if it had stayed"},
    {67, "a report on a dead sender's packets that did not fit in one packet never ended"},
    {79, "the only two that kept a packet died, and somebody waited for it without end"},
    {83, "a full executor ended a stream that it could not take itself"},
    {102, "an estate named only the first sixty-four of its holes"},
    {123, "an application that never read was asked about views that it was never told"},
    {124, "senders outside a region were never counted as dead after a take-over"},
    {129, "an estate was opened for a sender that another side counted as dead"},
    {134, "whom a new host listed still passed for dead"},
    {178, "who had not heard of a death from the last host refused what others had settled by it"},
    {193, "a region was reported as drained between two deaths of one batch"},
    {254, "after a second death nobody looked any more whether all had the first one's packets"},
    {259, "a suspended member delivered what had waited for a view"},
    {441, "unread deliveries of a group that was left were never released"},
    {634, "the sender's own end, come late, undid the one that its executor had made"},
    {643, "half of a long message was forgotten while its sender went over to another host"},
    {645, "who left and came back between two views was asked for what came before"},
    {648, "executors that had gone over to a new host waited for the word of one that had not yet"},
    {743, "who came back under a new id took acknowledgements of its former one for its own"},
    {749, "messages waited without end for lost ones of a dead sender"},
    {767, "newcomers of a host that had been given up and was found again counted as dead"},
    {983, "an executor was not told again, for another word to the asker was on its way"},
    {1131, "who had counted others out was believed, that all had a packet, by who had not"},
    {1250, "what is stable was not told in the third level of rings: tokens without end"},
    {2276, "who had finished alone what it knew of a host came back into views that it had missed"},
    {2324, "a leave was lost with its link, which a jump of the clock had broken"},
    {2429,
     "a view that its members had left unread passed for one with somebody who was not in it"},
    {2380, "a host that had counted everybody out said that all had its packets"},
    {2622, "what somebody had begun to say when it left was kept for good"},
    {3815, "what waited for messages of one who had left was dropped while these were under way"},
    {5615,
     "who was back after one death, and died again, was asked for what came before the first"},
};

/* The same with multicast that reaches some and not others. */
static const past_storm HUSHED[] = {
    {19, "a host was not told that somebody was heard again whom its reporter had forgotten"},
    {26, "regions that go back to multicast are no noise of an idle system"},
};

static uint32_t run(const past_storm *storms, size_t count, uint32_t also) {
    uint32_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        storm_result result = storm_run(storms[i].seed, 0, also, false);
        if (result.failure == NULL) continue;
        failed++;
        fprintf(stderr, "%s\n  seed %" PRIu64 ": %s\n", storms[i].cause, storms[i].seed,
                result.failure);
    }
    return failed;
}

int main(void) {
    const size_t past = sizeof PAST / sizeof *PAST, hushed = sizeof HUSHED / sizeof *HUSHED;
    uint32_t failed = run(PAST, past, 0) + run(HUSHED, hushed, 1U << STORM_HUSH);
    printf("%zu storms, %" PRIu32 " failed\n", past + hushed, failed);
    return failed != 0;
}
