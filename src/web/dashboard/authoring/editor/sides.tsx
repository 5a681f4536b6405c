import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { never, useRead } from '../../api/read.ts'
import { may } from '../../api/session.ts'
import { Segments } from '../../parts/choice.tsx'
import { useFilters } from '../../shell/address.ts'
import { editorWords as words } from '../../words/editor.ts'
import { FlowForm } from '../form/flow-form.tsx'
import { PickOnPage } from '../pick/pick-on-page.tsx'
import { BesideText } from '../preview/beside-text.tsx'
import type { Schema } from './completion.ts'
import type { Editing } from './editing.ts'
import { partAt, placeOfPart } from './places.ts'
import { ProblemList } from './problem-list.tsx'
import { type GoTo, YamlEditor } from './yaml-editor.tsx'

type Side = 'form' | 'yaml'

/** Whether the flow is written as fields or as YAML. The address keeps the choice. */
export function useSide(): [side: Side, choose: (side: Side) => void] {
  const { filters, setFilters } = useFilters()
  const choose = (side: Side) => setFilters({ view: side === 'yaml' ? side : null })
  return [filters.view === 'yaml' ? 'yaml' : 'form', choose]
}

/** Switches between the fields and the YAML. */
export function SideChoice() {
  const [side, choose] = useSide()
  return <Segments label={words.side} options={words.sides} value={side} onChange={choose} />
}

/** The flow's text as fields or as YAML; both show the same step or item. */
export function Sides({
  editing,
  isReadOnly,
  isFailing,
}: {
  editing: Editing
  isReadOnly: boolean
  /** Whether the text cannot be judged at the moment. */
  isFailing: boolean
}) {
  const { text, judged } = editing
  const [side] = useSide()
  const isYaml = side === 'yaml'
  const schema = useRead<Schema>('/manage/schema', never)
  const goTo = useSignal<GoTo | null>(null)
  const part = useSignal<string | null>(null)
  const latest = useRef(side)
  latest.current = side
  /** Once opened, the YAML editor stays, hidden, so that it can also undo what was done in the form. */
  const wasOpened = useRef(false)
  wasOpened.current ||= isYaml
  useEffect(() => {
    const place = isYaml && part.value !== null ? placeOfPart(text.value, part.value) : null
    if (place) goTo.value = { ...place, isQuiet: true }
  }, [isYaml])
  const problems = judged.value?.problems ?? []
  const isJudged = judged.value?.text === text.value
  return (
    <>
      <pre class="on-paper">{text.value}</pre>
      <BesideText
        flow={judged.value?.flow ?? null}
        text={text.value}
        part={part.value}
        onPart={key => {
          part.value = key
          const place = isYaml && key !== null ? placeOfPart(text.value, key) : null
          if (place) goTo.value = { ...place, isQuiet: true }
        }}
      >
        {!isYaml && (
          <FlowForm
            text={text.value}
            problems={problems}
            isLocked={isReadOnly}
            isNew={editing.key === null}
            part={part.value}
            onPart={key => (part.value = key)}
            onChange={changed => (text.value = changed)}
            pick={may('flows:write') ? PickOnPage : null}
          />
        )}
        {wasOpened.current && (
          <div hidden={!isYaml}>
            <YamlEditor
              text={text}
              problems={problems}
              isReadOnly={isReadOnly}
              schema={schema.data}
              goTo={goTo.value}
              onCursor={offset => {
                if (latest.current === 'yaml') part.value = partAt(text.value, offset)
              }}
            />
          </div>
        )}
        <ProblemList
          problems={problems}
          isBrief={!isYaml}
          state={isFailing ? 'failing' : isJudged ? 'judged' : 'judging'}
          onGo={place => {
            goTo.value = { ...place }
          }}
        />
      </BesideText>
    </>
  )
}
