import type { Flow, FlowDefinition } from '../../../core/flow/flow.ts'
import { pageFlow } from '../../../core/flow/forms.ts'

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
  ...{ key: 'sample-tour', name: 'Welcome aboard', kind: 'tour', checklist: null },
  steps: [
    {
      ...step,
      ...{
        key: 'hello',
        kind: 'modal',
        title: 'Welcome aboard',
        body: 'Five short stops show you **around**. It takes [a minute](/guide).',
        target: null,
      },
      buttons: [
        { label: 'Not now', action: 'dismiss', href: null },
        { label: 'Show me around', action: 'next', href: null },
      ],
    },
    {
      ...step,
      ...{
        key: 'point',
        kind: 'tooltip',
        title: 'Start with a project',
        body: 'A project is where a piece of work lives.',
        target,
      },
      buttons: [],
    },
  ],
}

const checklist: FlowDefinition = {
  ...usual,
  ...{ key: 'sample-list', name: 'Getting started', kind: 'checklist', steps: [] },
  checklist: {
    order: 'any',
    items: ['Create a project', 'Invite a teammate', 'Read the guide'].map((title, place) => ({
      ...{ key: `item-${place}`, title, description: null, completeOn: null, href: null },
    })),
  },
}

const shown = (definition: FlowDefinition) => pageFlow({ definition, version: 1, publishedAt: 0 })

export const sampleFlows: Readonly<Record<'tour' | 'checklist', Flow>> = {
  tour: shown(tour),
  checklist: shown(checklist),
}
