/** The parts that the API's description falls into, in the order in which they are shown. */
export const tags = {
  Flows: 'What is shown: tours, checklists and announcements, as they were last published.',
  Checklists: 'How far a person has come.',
  Events: 'What happened, reported in batches, stored once each.',
  Steps: "Whether a step's target is still where the step says, and still the same.",
  Liveness: 'Whether the snippet is installed and alive, and what is wrong where it is not.',
  Analytics: "What became of a flow's runs, for analysts.",
  Management:
    'What authors and owners do, for back ends, CI and the command line, with a management token.',
  Description: 'This description, for programs and for people.',
} as const

export type Tag = keyof typeof tags
