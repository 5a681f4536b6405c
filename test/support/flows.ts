/** Flows that tests publish, as in a flow file. */

export const tour = (more: Record<string, unknown> = {}) => ({
  key: 'welcome',
  name: 'Welcome',
  steps: [
    { key: 'hello', title: 'Hello' },
    { key: 'search', title: 'Search', target: { selector: '#search' } },
  ],
  ...more,
})

export const checklist = (more: Record<string, unknown> = {}) => ({
  key: 'start',
  name: 'Getting started',
  checklist: {
    items: [
      { key: 'invite', title: 'Invite somebody', completeOn: { event: 'invited' } },
      { key: 'photo', title: 'Add a photo' },
      { key: 'pay', title: 'Add a card' },
    ],
  },
  ...more,
})
