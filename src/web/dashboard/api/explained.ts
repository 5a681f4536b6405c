import type { Failure } from './failure.ts'

/** What a failure means to a person: what happened, and what to do. */
export interface Explained {
  title: string
  why: string
}

const reload = 'It may have been renamed or deleted. Reload the page.'

const notFound = (what: string): Explained => ({ title: `${what} not found`, why: reload })
const limit = (what: string, fix: string): Explained => ({ title: `Too many ${what}`, why: fix })

/** By the code of the API's error. The server's own sentence is for engineers, behind "Details". */
const byCode: Readonly<Record<string, Explained>> = {
  organisation_not_found: notFound('Organisation'),
  version_not_found: notFound('Version'),
  flow_not_found: notFound('Flow'),
  step_not_found: notFound('Step'),
  person_not_found: {
    title: 'No data for this person',
    why: 'Check the ID. If the person was erased, their data is gone.',
  },
  dead_letter_not_found: notFound('Dead letter'),
  webhook_not_found: notFound('Webhook'),
  delivery_not_found: notFound('Delivery'),
  too_many_flows: limit('flows', 'Archive flows that you no longer need.'),
  too_many_organisations: limit('organisations', 'Ask the operator of the server.'),
  too_many_webhooks: limit('webhooks', 'Delete one that you no longer need.'),
  too_many_members: limit('members', 'Remove members who have left.'),
  too_many_images: limit('images', 'Delete images that no flow uses, or use a smaller one.'),
  too_many_previews: limit('preview links', 'End links that you no longer need.'),
  slug_taken: { title: 'Name in use', why: 'Another organisation has it. Choose another.' },
  last_owner: {
    title: 'Last owner',
    why: 'An organisation needs an owner. Make somebody else an owner first.',
  },
  cannot_change_member: {
    title: 'Member cannot be changed',
    why: 'The identity provider sets this. Change it there.',
  },
  sent_too_often: {
    title: 'Sent too often',
    why: 'Nothing was sent. Wait an hour, then try again.',
  },
  cannot_link: {
    title: 'Cannot link these organisations',
    why: 'One of them is linked already, or both are the same.',
  },
  two_secrets_work: {
    title: 'Previous secret still valid',
    why: 'Wait until it expires, or end it now. Then create a new one.',
  },
  rewriting_under_way: {
    title: 'Busy with stored data',
    why: 'An erasure or a rebuild of results is running. Try again in a few minutes.',
  },
  nothing_to_repair: {
    title: 'No selector to use',
    why: 'None is suggested. Pick the element on your page, or enter a selector.',
  },
  flow_locked: {
    title: 'Managed in a repository',
    why: 'Change this flow in its repository.',
  },
  precondition_required: {
    title: 'Not saved',
    why: 'Reload the page, then save again.',
  },
  payload_too_large: {
    title: 'Too large',
    why: 'Nothing was saved. Shorten it, or use a smaller file.',
  },
  unsupported_image: {
    title: 'Image not supported',
    why: 'Use PNG, JPEG, GIF or WebP with at most 4,096 pixels on each side.',
  },
  validation_failed: {
    title: 'Not saved',
    why: 'Some values are not valid. Change them, then save.',
  },
  no_room: { title: 'Disk full', why: 'Nothing was saved. Ask the operator of the server.' },
  overloaded: { title: 'Server busy', why: 'Nothing was saved. Try again in a moment.' },
  in_doubt: {
    title: 'May not be saved',
    why: 'The server stopped while it was saving. Reload the page to see.',
  },
}

/** Who saved first, and where that is known. */
const conflict = ({ response: { body } }: Failure): Explained => ({
  title: 'Someone else saved first',
  why: `${body?.changedBy ?? 'Someone'} changed this after you opened it. Review it, then save.`,
})

/** What happened and what to do, for any failure. */
export function explain(failure: Failure): Explained {
  const { status, isPassing } = failure
  const known = byCode[failure.response.code ?? '']
  if (known) return known
  if (status === 0) {
    return { title: 'Server unreachable', why: 'Check your connection, then try again.' }
  }
  if (status === 401) return { title: 'Your session has ended', why: 'Sign in again to continue.' }
  if (status === 403) {
    return {
      title: 'No access',
      why: 'Ask an owner of the organisation for a role that allows this.',
    }
  }
  if (status === 404) return notFound('Page')
  if (status === 412) return conflict(failure)
  if (status === 429) {
    return {
      title: 'Too many requests',
      why: 'Your organisation reached its rate limit. Try again in a minute.',
    }
  }
  if (isPassing) return byCode.overloaded!
  return {
    title: 'Something went wrong',
    why: 'Try again. If it happens again, send the details to your operator.',
  }
}

/** The same as one sentence, for a place beside a button or a field. */
export function explained(failure: Failure): string {
  const { title, why } = explain(failure)
  const wrong = failure.response.details?.map(({ message }) => message).join(' ')
  return `${title}. ${wrong || why}`
}
