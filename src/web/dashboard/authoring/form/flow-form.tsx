import { useRef } from 'preact/hooks'
import { isError, parseSource } from '../../../../core/flow/edit/source.ts'
import type { FlowDefinition } from '../../../../core/flow/flow.ts'
import { Button, LinkButton } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { useFilters } from '../../shell/address.ts'
import { flowFormWords as words } from '../../words/flow-form.ts'
import { languagesWords } from '../../words/languages.ts'
import { whenWords } from '../../words/when.ts'
import type { FlowFormProps } from '../editor/parts.ts'
import { entriesOf, listPaths, listsOf } from './entries.ts'
import { EntryHead } from './entry-head.tsx'
import { Problems } from './field-frame.tsx'
import { FlowPart } from './flow-part.tsx'
import { FormContext, flowIn } from './form-context.ts'
import { ItemPart } from './item-part.tsx'
import { LanguagesPart } from './languages-part.tsx'
import { OutlineLink, OutlineList } from './outline.tsx'
import { pointerOf, within } from './problems.ts'
import { StepPart } from './step-part.tsx'
import { type Editing, useEditing } from './use-editing.ts'
import { useEntries } from './use-entries.ts'
import { WhenPart } from './when-part.tsx'
import { WherePart } from './where-part.tsx'

/** The parts beside steps and items. */
const parts = {
  flow: words.flow,
  where: words.where,
  when: whenWords.part,
  languages: languagesWords.title,
}

/** The part that shows each field. A field that is missing here does not compile. */
const partOf: Record<Exclude<keyof FlowDefinition, 'id' | 'steps'>, keyof typeof parts> = {
  key: 'flow',
  name: 'flow',
  title: 'flow',
  kind: 'flow',
  priority: 'flow',
  frequency: 'flow',
  theme: 'flow',
  checklist: 'flow',
  targeting: 'where',
  schedule: 'when',
  when: 'when',
  rollout: 'when',
  goal: 'when',
  locale: 'languages',
  texts: 'languages',
}

const placesOf = (part: keyof typeof parts) =>
  Object.entries(partOf).flatMap(([field, of]) => (of === part ? [`/${field}`] : []))

const partNames = Object.keys(parts) as (keyof typeof parts)[]

/** Whether the lists of steps and items show a problem. */
const isInList = (path: string) => /^\/(steps|checklist\/items)(\/|$)/.test(path)

/** Announces what was done, with a button to undo it. */
const Said = ({ said, onUndone }: Pick<Editing, 'said'> & { onUndone: () => void }) => (
  <div role="status" class="form-said">
    {said.value && (
      <>
        <span>{said.value.text}</span>
        {said.value.undo && (
          <Button
            look="quiet"
            onClick={() => {
              said.value?.undo?.()
              onUndone()
            }}
          >
            {words.undo}
          </Button>
        )}
      </>
    )}
  </div>
)

function Fields({ editing, ...props }: FlowFormProps & { editing: Editing }) {
  const { form, said } = editing
  const { flow, isLocked, problems } = form
  const { chosen, choose, rename, add, duplicate, move, remove } = useEntries(editing, props)
  const hadNoKey = useRef(typeof flow.key !== 'string' || flow.key === '').current
  const detail = useRef<HTMLDivElement>(null)
  const ofParts = problems.filter(({ path }) => !isInList(path))
  const at = chosen.value
  const entries = typeof at === 'string' ? [] : entriesOf(flow, at.list)
  const entry = typeof at === 'string' ? undefined : entries[at.index]
  /** Focuses the first field of what is shown next, once it is drawn. */
  const goOn = (selector = '.detail-fields input:not([type=radio])') =>
    requestAnimationFrame(() => detail.current?.querySelector<HTMLElement>(selector)?.focus())
  const path = entry && [...listPaths[entry.list], entry.index]
  return (
    <FormContext.Provider value={form}>
      <Problems of={form.problemsAt([])} />
      <div class="flow-form">
        <div class="flow-form-columns">
          <nav class="outline" aria-label={words.label}>
            <div class="outline-section">
              {partNames.map(name => (
                <OutlineLink
                  key={name}
                  isChosen={at === name}
                  problems={within(ofParts, ...placesOf(name))}
                  onChoose={() => choose(name)}
                >
                  {parts[name]}
                </OutlineLink>
              ))}
            </div>
            {listsOf(flow).map(list => (
              <OutlineList
                key={list}
                list={list}
                entries={entriesOf(flow, list)}
                chosen={entry?.list === list ? entry.index : null}
                onChoose={index => choose({ list, index })}
                onMove={(index, to) => move({ list, index }, to)}
                onAdd={() => add(list) && goOn()}
              />
            ))}
            <Said said={said} onUndone={() => goOn('h2')} />
          </nav>
          <div class="detail" ref={detail}>
            {entry && (
              <EntryHead
                entry={entry}
                count={entries.length}
                onMove={to => move(entry, to)}
                onDuplicate={() => duplicate(entry) && goOn()}
                onRemove={() => remove(entry) && goOn('h2')}
              />
            )}
            {typeof at === 'string' && <h2>{parts[at]}</h2>}
            <fieldset
              class="detail-fields"
              disabled={isLocked}
              key={path ? pointerOf(path) : `${at}`}
            >
              {path && <Problems of={form.problemsAt(path)} />}
              {path && entry.list === 'steps' && (
                <StepPart path={path} onKey={rename} pick={props.pick} />
              )}
              {path && entry.list === 'items' && <ItemPart path={path} onKey={rename} />}
              {!entry && at === 'where' && <WherePart />}
              {!entry && at === 'languages' && (
                <LanguagesPart flowNow={() => flowIn(editing.textNow()) ?? flow} />
              )}
              {!entry && at === 'when' && <WhenPart />}
              {!entry && at === 'flow' && <FlowPart isKeyNew={props.isNew || hadNoKey} />}
            </fieldset>
          </div>
        </div>
      </div>
    </FormContext.Provider>
  )
}

/** Says why there is no form, and where to go on. */
function Unreadable({ text, problems }: Pick<FlowFormProps, 'text' | 'problems'>) {
  const { withFilters } = useFilters()
  const read = parseSource(text)
  const isSyntax = isError(read) && read.reason === 'syntax'
  const line = isError(read) ? read.line : null
  return (
    <section class="notice">
      <Icon name="warning" size={20} />
      <h2>{isSyntax ? words.fault.syntax : words.fault.several}</h2>
      <p class="notice-text">{isSyntax ? words.fault.syntaxWhy(line) : words.fault.severalWhy}</p>
      {isSyntax && <Problems of={problems.filter(({ code }) => code === 'invalid_syntax')} />}
      <div class="actions">
        <LinkButton look="primary" href={withFilters({ view: 'yaml' })}>
          {words.fault.open}
        </LinkButton>
      </div>
    </section>
  )
}

/** A flow as fields, for authors who write no YAML. */
export function FlowForm(props: FlowFormProps) {
  const editing = useEditing(props)
  if (!editing) return <Unreadable text={props.text} problems={props.problems} />
  return <Fields {...props} editing={editing} />
}
