import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { isError, parseSource } from '../../../../core/flow/edit/source.ts'
import { isMapping, type Mapping } from '../../../../core/flow/plain.ts'
import { fieldsText } from '../../../../core/flow/text.ts'
import { never, useRead } from '../../api/read.ts'
import { inSchemaOrder } from '../form/flow-json.ts'
import type { Schema } from './completion.ts'
import type { Editing } from './editing.ts'
import { partAt, placeOfPart } from './places.ts'
import { ProblemList } from './problem-list.tsx'
import { type GoTo, YamlEditor } from './yaml-editor.tsx'

/** The one flow in a text; null if there is none, or more than one. */
function flowIn(text: string): Mapping | null {
  const read = parseSource(text)
  if (isError(read)) return null
  if (read.value === null) return {}
  return isMapping(read.value) && !('flows' in read.value) ? read.value : null
}

const textOf = (flow: Mapping | null) => (flow ? fieldsText(inSchemaOrder(flow) as Mapping) : '')

/** The flow as YAML. Its author writes a text here, which is read after each change. */
export default function YamlSide({
  editing,
  isReadOnly,
  state,
  part,
  onPart,
}: {
  editing: Editing
  isReadOnly: boolean
  state: 'judging' | 'failing' | 'judged'
  part: string | null
  onPart(key: string | null): void
}) {
  const { work, judged } = editing
  const schema = useRead<Schema>('/manage/schema', never)
  const goTo = useSignal<GoTo | null>(null)
  const text = useSignal(work.peek().text ?? textOf(work.peek().flow))
  /** The part in which the cursor is, and which the editor need not be led to. */
  const own = useRef(part)
  useSignalEffect(() => {
    const { flow, text: written } = work.value
    if (written === null) {
      // From here on the text is what is judged, so that problems have its lines.
      text.value = textOf(flow)
      work.value = { flow, text: text.peek() }
    } else if (written !== text.peek()) text.value = written
  })
  useSignalEffect(() => {
    const typed = text.value
    if (typed !== work.peek().text) work.value = { flow: flowIn(typed), text: typed }
  })
  useEffect(() => {
    if (part === null || part === own.current) return
    const place = placeOfPart(text.peek(), part)
    if (place) goTo.value = { ...place, isQuiet: true }
  }, [part])
  useEffect(() => {
    const place = part === null ? null : placeOfPart(text.peek(), part)
    if (place) goTo.value = { ...place, isQuiet: true }
  }, [])
  const problems = judged.value?.of.text === null ? [] : (judged.value?.problems ?? [])
  return (
    <>
      <YamlEditor
        text={text}
        problems={problems}
        isReadOnly={isReadOnly}
        schema={schema.data}
        goTo={goTo.value}
        onCursor={offset => {
          own.current = partAt(text.peek(), offset)
          onPart(own.current)
        }}
      />
      <ProblemList problems={problems} state={state} onGo={place => (goTo.value = { ...place })} />
    </>
  )
}
