import type { Flow, FlowDefinition } from '../../../core/flow/flow.ts'
import { pageFlow } from '../../../core/flow/forms.ts'
import { themeWords as words } from '../words/theme.ts'

/** Flows for previewing a theme. */

const usual = {
  ...({ priority: 0, frequency: 'always', theme: null } as const),
  targeting: { urls: [], audience: { match: 'all', rules: [] } },
} satisfies Partial<FlowDefinition>

const step = {
  placement: { side: 'bottom', align: 'center' },
  advance: { on: 'button', event: null },
} as const

const target = {
  ...{ selector: '[data-tour="new-project"]', text: null, nth: null, waitMs: 0 },
  ...({ required: false, onMissing: 'skip' } as const),
}

const tour: FlowDefinition = {
  ...usual,
  ...{ key: 'sample-tour', name: words.hello, kind: 'tour', checklist: null },
  steps: [
    {
      ...step,
      ...{ key: 'hello', kind: 'modal', title: words.hello, body: words.helloBody, target: null },
      buttons: [
        { label: words.later, action: 'dismiss', href: null },
        { label: words.start, action: 'next', href: null },
      ],
    },
    {
      ...step,
      ...{ key: 'point', kind: 'tooltip', title: words.point, body: words.pointBody, target },
      buttons: [],
    },
  ],
}

const checklist: FlowDefinition = {
  ...usual,
  ...{ key: 'sample-list', name: words.list, kind: 'checklist', steps: [] },
  checklist: {
    order: 'any',
    items: words.items.map((title, place) => ({
      ...{ key: `item-${place}`, title, description: null, completeOn: null, href: null },
    })),
  },
}

const shown = (definition: FlowDefinition) => pageFlow({ definition, version: 1, publishedAt: 0 })

export const sampleFlows: Readonly<Record<'tour' | 'checklist', Flow>> = {
  tour: shown(tour),
  checklist: shown(checklist),
}
