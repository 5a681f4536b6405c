/** Every word that somebody reads on a page while they preview a draft. */
export const words = {
  badge: 'Cairn: preview of a draft',
  title: 'Preview — nothing is counted',
  until: (time: string) => `until ${time}`,
  loading: 'Loading the draft…',
  step: (place: number, of: number) => `Step ${place} of ${of}`,
  shown: {
    steps: '',
    checklist: 'The checklist is shown.',
    launcher: 'The launcher is shown. It opens no other flow here.',
  },
  missing: (step: string) => `The element of “${step}” is not on this page.`,
  waiting: 'The element of this step is not there yet.',
  nothing: 'Nothing on this page is what its steps point at. Go to a page that has it.',
  outcomes: { completed: 'The flow was completed.', dismissed: 'The flow was closed.' },
  starts: (flow: string) => `Visitors now see the flow “${flow}”.`,
  again: 'Start again',
  end: 'End preview',
  move: 'Move to the other edge',
  close: 'Close',
  over: 'This preview has ended: it was for a short time. Ask for a new link.',
  refused:
    'This link to a preview has expired, was ended, or is for another site. Ask for a new one.',
  away: (origin: string) =>
    `The preview cannot be loaded from ${origin}. Reload the page to try again.`,
} as const
