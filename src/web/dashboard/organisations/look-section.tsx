import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { MaybeTheme } from '../../../core/flow/merged-theme.ts'
import { isSame, type Mapping } from '../../../core/flow/plain.ts'
import { themeProblems } from '../../../core/flow/theme-rules.ts'
import type { RequestedTheme, Settings } from '../../../modules/organisations/schema.ts'
import { useAction } from '../api/action.ts'
import type { Failure } from '../api/failure.ts'
import { renew } from '../api/session.ts'
import { Fields } from '../authoring/form/fields.tsx'
import { type FlowProblem, FormContext } from '../authoring/form/form.ts'
import { themeGroups } from '../authoring/form/theme-table.ts'
import { FlowPreview } from '../authoring/preview/flow-preview.tsx'
import { Button } from '../parts/button.tsx'
import { Segments } from '../parts/choice.tsx'
import { say } from '../parts/toast.tsx'
import { Reading } from '../shell/states.tsx'
import { sampleFlows } from './sample-flows.ts'
import { problemsAt, save, useSettings } from './saving.ts'

const words = {
  samples: { tour: 'A tour', checklist: 'A checklist' },
}

/** The form edits a flow, so the theme becomes one: a flow with nothing but a theme. */
function asFlow(theme: Settings['theme']): Mapping {
  const set = Object.entries(theme ?? {}).filter(([, value]) => value !== null)
  return set.length === 0 ? {} : { theme: Object.fromEntries(set) as Mapping }
}

const nowhere = { line: null, column: null }

/** What the server has refused and what is hard to see, at the fields concerned. */
function problemsOf(theme: MaybeTheme, failure: Failure | null): FlowProblem[] {
  const refused = problemsAt(failure, '/theme').map(({ path, message }) => ({
    ...({ severity: 'error', code: 'invalid_value', path, message, ...nowhere } as const),
  }))
  // What is refused, the server says once it is saved: before, it is perhaps not typed to its end.
  const warned = [...themeProblems(theme ?? {})]
    .filter(({ severity }) => severity === 'warning')
    .map(problem => ({ ...problem, ...{ path: `/theme${problem.path}`, ...nowhere } }))
  return [...refused, ...warned]
}

function Look({ settings }: { settings: Settings }) {
  const stored = asFlow(settings.theme)
  const typed = useSignal<Mapping | null>(null)
  const { isBusy, refused, run } = useAction()
  const sample = useSignal<keyof typeof sampleFlows>('tour')
  const part = useSignal<string | null>(null)
  const flow = typed.value ?? stored
  const theme = useMemo(() => (flow.theme ?? {}) as MaybeTheme, [flow])
  const failure = refused.value
  const problems = useMemo(() => problemsOf(theme, failure), [theme, failure])
  const take = (next: Mapping) => {
    typed.value = next
    refused.value = null
    say(null)
  }
  const form = {
    ...{ flow, problems, isLocked: false, isNew: false },
    change: (make: (now: Mapping) => Mapping) => take(make(flow)),
  }
  const submit = () =>
    run(async () => {
      const saved = await save({ theme: theme as RequestedTheme })
      say(
        saved.theme === null
          ? 'Saved. Flows have the default appearance.'
          : 'Saved. Visitors see it on their next page.',
      )
      typed.value = null
      // Previews take the theme from the session.
      await renew()
    })
  const logo = theme?.logo
  return (
    <div class="look stack start gap-5">
      <form
        class="setting-form stack gap-3"
        onSubmit={event => {
          event.preventDefault()
          submit()
        }}
      >
        <FormContext.Provider value={form}>
          <Fields of={themeGroups} />
        </FormContext.Provider>
        {failure && (
          <p class="problem" role="alert">
            Not saved. Fix the marked fields.
          </p>
        )}
        <div class="row-actions">
          <Button
            type="submit"
            look="primary"
            isBusy={isBusy.value}
            disabled={isSame(flow, stored)}
          >
            Save
          </Button>
          <Button disabled={isSame(flow, {})} onClick={() => take({})}>
            Clear all fields
          </Button>
        </div>
      </form>
      <div class="look-preview stack gap-3 min-0">
        <div>
          <Segments
            label="Show"
            options={(['tour', 'checklist'] as const).map(
              one => [one, words.samples[one]] as const,
            )}
            value={sample.value}
            onChange={chosen => {
              sample.value = chosen
              part.value = null
            }}
          />
        </div>
        <FlowPreview
          flow={sampleFlows[sample.value]}
          part={part.value}
          onPart={key => (part.value = key)}
          theme={theme}
        />
        {typeof logo === 'string' && !/^https:/i.test(logo) && (
          <p class="footnote fine">The preview cannot show a logo with a relative address.</p>
        )}
      </div>
    </div>
  )
}

/** How the organisation's flows look. */
export function LookSection() {
  const settings = useSettings()
  return <Reading of={settings}>{data => <Look settings={data} />}</Reading>
}
