/** Calls that a page may make before the script has loaded. They wait, in their order. */
export const earlyCalls = [
  'identify',
  'group',
  'track',
  'start',
  'stop',
  'highlight',
  'reset',
  'consent',
  'debug',
  'flows',
  'why',
] as const

/** How long an early `identify()` waits for the script before its answer is `alone`, milliseconds. */
export const earlyPatienceMs = 5_000
