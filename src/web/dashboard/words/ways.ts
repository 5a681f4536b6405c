/** Texts about the ways through a flow. */
export const wayWords = {
  title: 'Ways that were taken',
  caption: 'How often runs went from one step to the next, by when each first saw them.',
  from: 'From',
  to: 'To',
  runs: 'Runs',
  start: 'Start',
  ends: { completed: 'Completed', dismissed: 'Dismissed', inProgress: 'In progress' } as Readonly<
    Record<string, string>
  >,
  past: (runs: string) => `${runs} went past`,
} as const
