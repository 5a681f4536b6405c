/** The groups of operations, in the order of the document. */
export const tags = {
  Flows: 'Published tours, checklists and announcements.',
  Checklists: "A person's progress.",
  Events: 'What people did, in batches. Each event is stored once.',
  Steps: "Whether pages find a step's element, and whether it has changed.",
  Liveness: 'Whether the snippet is installed and running, and how to fix it.',
  Analytics: "A flow's runs in numbers.",
  Management: 'For back ends, CI and the command line, with a management token.',
  Description: 'This description.',
} as const

export type Tag = keyof typeof tags
