import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { Mapping } from '../../../../core/flow/plain.ts'
import { Button } from '../../parts/button.tsx'
import { Segments } from '../../parts/choice.tsx'
import { Icon } from '../../parts/icon.tsx'
import { addressOf, useFilters } from '../../shell/address.ts'
import { Notice } from '../../shell/states.tsx'
import { listPaths, listsOf } from '../form/entries.ts'
import { FlowForm } from '../form/flow-form.tsx'
import { mappingsAt, textOf } from '../form/flow-json.ts'
import { BesideForm } from '../preview/beside-form.tsx'
import type { Editing } from './editing.ts'
import { later } from './later.tsx'
import { useAutosave, useKeeping } from './use-autosave.ts'
import { useLeftFields } from './use-left-fields.ts'

const YamlSide = later(() => import('./yaml-side.tsx'))
const ConflictDialog = later(() => import('./conflict.tsx'))

/** Saves by the usual keys for saving, too, because hands know them. */
function useSaveKey(save: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 's')
        return
      event.preventDefault()
      save()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [save])
}

/** Whether everything is saved, in a word; if not, why. */
function SaveState({ editing, isKept }: { editing: Editing; isKept: boolean }) {
  const { isBusy, isDirty, rejected, base } = editing
  const problem = isDirty.value ? rejected.value?.message : undefined
  const text = !isDirty.value
    ? base.value && 'Saved'
    : isBusy.value
      ? 'Saving…'
      : isKept
        ? 'Unsaved changes'
        : 'Unsaved changes. This browser cannot keep them.'
  return (
    <div role="status" class={`save-state line ${problem ? 'problem' : 'good fine'}`}>
      {text === 'Saved' && <Icon name="done" />}
      {problem ?? text}
    </div>
  )
}

/** What a printed page has of a flow. */
const OnPaper = ({ flow }: { flow: Mapping }) => (
  <ol class="on-paper">
    {listsOf(flow)
      .flatMap(list => mappingsAt(flow, listPaths[list]))
      .map(({ title, body, description }, i) => (
        <li key={i}>
          <strong>{textOf(title)}</strong> {textOf(body ?? description)}
        </li>
      ))}
  </ol>
)

const sides = [
  ['form', 'Form'],
  ['yaml', 'YAML'],
] as const

/** A flow that is being written, with everything to know about it. */
export function Workbench({
  editing,
  flowKey,
  canWrite,
  canPublish = false,
  actions,
  part: ownPart,
  children,
}: {
  editing: Editing
  /** Empty for a new flow. */
  flowKey: string
  canWrite: boolean
  /** Whether there is a draft to publish. */
  canPublish?: boolean
  actions?: ComponentChildren
  /** The key of the step or item that is shown, where somebody else asks for it. */
  part?: Signal<string | null>
  /** Above the form. */
  children?: ComponentChildren
}) {
  const { filters, setFilters } = useFilters()
  const { route } = useLocation()
  const isYaml = filters.view === 'yaml'
  const isFailing = useAutosave(editing, canWrite)
  const { isKept, isRestored } = useKeeping(editing, flowKey)
  const { problems, leave, showAll } = useLeftFields(editing)
  const localPart = useSignal<string | null>(null)
  const part = ownPart ?? localPart
  const goTo = useSignal<{ pointer: string } | null>(null)
  const { work, judged, conflict, isBusy } = editing
  const { flow } = work.value
  const isNew = editing.base.value === null
  const isJudged = judged.value?.of === work.value
  const state = isFailing ? 'failing' : isJudged ? 'judged' : 'judging'
  const review = async () => {
    const isSaved = await editing.save()
    if (isSaved) return isNew || route(addressOf(['flows', flowKey, 'versions'], { review: 'yes' }))
    showAll()
    const [first] = (judged.peek()?.problems ?? []).filter(({ severity }) => severity === 'error')
    if (first) goTo.value = { pointer: first.path }
  }
  useSaveKey(async () => {
    if (canWrite && !(await editing.save())) showAll()
  })
  return (
    <div class="stack gap-3 min-0">
      {isRestored && (
        <section class="banner accent">
          <Icon name="info" />
          <span>Restored the changes that were not saved.</span>
          <Button onClick={() => editing.revert()}>Discard them</Button>
        </section>
      )}
      {children}
      <div class="workbench-bar row">
        <Segments
          label="Write as"
          options={sides}
          value={isYaml ? 'yaml' : 'form'}
          onChange={side => setFilters({ view: side === 'yaml' ? side : null })}
        />
        <SaveState editing={editing} isKept={isKept} />
        <div class="actions push">
          {actions}
          {canWrite && (isNew || canPublish || editing.isDirty.value) && (
            <Button look="primary" isBusy={isNew && isBusy.value} onClick={() => void review()}>
              {isNew ? 'Create draft' : 'Review and publish'}
            </Button>
          )}
        </div>
      </div>
      {flow && <OnPaper flow={flow} />}
      <BesideForm
        flow={judged.value?.flow ?? null}
        isLoading={judged.value === null}
        written={flow}
        part={part.value}
        onPart={key => (part.value = key)}
      >
        {isYaml ? (
          <YamlSide
            editing={editing}
            isReadOnly={!canWrite}
            state={state}
            part={part.value}
            onPart={key => (part.value = key)}
          />
        ) : flow === null ? (
          <Notice
            icon="warning"
            title="The form cannot read this YAML"
            actions={
              <Button look="primary" onClick={() => setFilters({ view: 'yaml' })}>
                Open YAML
              </Button>
            }
          >
            Fix it in the YAML. Your work is safe.
          </Notice>
        ) : (
          <div onFocusOut={leave}>
            <FlowForm
              flow={flow}
              problems={problems}
              isLocked={!canWrite}
              isNew={isNew}
              change={make => editing.change(make)}
              part={part.value}
              onPart={key => (part.value = key)}
              goTo={goTo.value}
            />
          </div>
        )}
      </BesideForm>
      {conflict.value && <ConflictDialog editing={editing} />}
    </div>
  )
}
