import '../../src/test-clock.ts'
import fc from 'fast-check'

/**
 * Property tests draw the same examples every time, so that a run says something about the change
 * and not about luck. Another seed looks elsewhere: CAIRN_TEST_SEED=7 bun test
 */
fc.configureGlobal({ seed: Number(process.env.CAIRN_TEST_SEED ?? 1) })
