/** Texts about what an organisation is called. */
export const nameWords = {
  why: 'What people see, in this dashboard and in the weekly report.',
  label: 'Name',
  hint: (slug: string) => `Addresses and commands go on calling it ${slug}.`,
  saved: (name: string) => `The organisation is called ${name} now.`,
} as const
