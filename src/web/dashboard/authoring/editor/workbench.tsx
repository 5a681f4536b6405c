import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useRead } from '../../api/read.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { editorWords as words } from '../../words/editor.ts'
import { BesideText } from '../preview/beside-text.tsx'
import type { Schema } from './completion.ts'
import type { Editing } from './editing.ts'
import { Leave } from './leave.tsx'
import { MergeDialog } from './merge-dialog.tsx'
import { EditorNotice, LeftWork } from './notices.tsx'
import { partAt, placeOfPart } from './places.ts'
import { ProblemList } from './problem-list.tsx'
import { useJudging, useKeeping } from './use-editing.ts'
import { type GoTo, YamlEditor } from './yaml-editor.tsx'

const never = 86_400_000

/** Saves by the keys that save elsewhere. */
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

const Keys = () => (
  <details class="editor-keys">
    <summary>{words.keysTitle}</summary>
    <dl class="facts">
      {words.keys.map(([key, does]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </details>
)

/** What became of saving, and whether there is something to save. */
function SaveState({ editing, isKept }: { editing: Editing; isKept: boolean }) {
  const { said, refused, isDirty } = editing
  const isUnsaved = isDirty.value
  return (
    <>
      <div role="status" class="save-state">
        {refused.value ? null : isUnsaved ? (
          isKept ? (
            words.unsaved
          ) : (
            words.notKept
          )
        ) : said.value ? (
          <>
            <Icon name="done" /> {said.value}
          </>
        ) : null}
      </div>
      <div role="alert" class="save-state problem">
        {refused.value}
      </div>
    </>
  )
}

/** A flow that is being written, with what there is to know of it. */
export function Workbench({
  editing,
  canWrite,
  isChangedElsewhere = false,
  actions,
  children,
}: {
  editing: Editing
  canWrite: boolean
  isChangedElsewhere?: boolean
  /** Beside the button that saves. */
  actions?: ComponentChildren
  /** Above the text. */
  children?: ComponentChildren
}) {
  const goTo = useSignal<GoTo | null>(null)
  /** The step or item that is looked at. */
  const part = useSignal<string | null>(null)
  const schema = useRead<Schema>('/manage/schema', never)
  const isFailing = useJudging(editing)
  const { isKept, left, isElsewhere, discard, goOn } = useKeeping(editing)
  const save = useSaving(editing, canWrite)
  const { text, judged, clash, isBusy, isDirty } = editing
  const problems = judged.value?.problems ?? []
  const isJudged = judged.value?.text === text.value
  return (
    <div class="workbench">
      {left.map(work => (
        <LeftWork
          key={work.editor}
          work={work}
          onGoOn={() => goOn(work)}
          onDiscard={() => discard(work)}
        />
      ))}
      {isElsewhere && <EditorNotice title={words.elsewhere}>{words.elsewhereWhy}</EditorNotice>}
      {isChangedElsewhere && isDirty.value && (
        <EditorNotice title={words.changed}>{words.changedWhy}</EditorNotice>
      )}
      {children}
      <div class="workbench-bar">
        <SaveState editing={editing} isKept={isKept} />
        <div class="actions">
          {actions}
          {canWrite && (
            <Button look="primary" isBusy={isBusy.value} onClick={save}>
              {words.save}
            </Button>
          )}
        </div>
      </div>
      <BesideText
        flow={judged.value?.flow ?? null}
        text={text.value}
        part={part.value}
        onPart={key => {
          part.value = key
          const place = key === null ? null : placeOfPart(text.peek(), key)
          if (place) goTo.value = { ...place, isQuiet: true }
        }}
      >
        <YamlEditor
          text={text}
          problems={problems}
          isReadOnly={!canWrite}
          schema={schema.data}
          goTo={goTo.value}
          onCursor={offset => {
            const found = partAt(text.peek(), offset)
            if (found !== null) part.value = found
          }}
        />
        <ProblemList
          problems={problems}
          state={isFailing ? 'failing' : isJudged ? 'judged' : 'judging'}
          onGo={place => {
            goTo.value = { ...place }
          }}
        />
      </BesideText>
      <Keys />
      {isDirty.value && <Leave isKept={isKept} />}
      {clash.value && (
        <MergeDialog
          clash={clash.value}
          onResolve={choices => void editing.resolve(choices)}
          onClose={() => {
            clash.value = null
          }}
        />
      )}
    </div>
  )
}

function useSaving(editing: Editing, canWrite: boolean): () => void {
  const save = () => {
    if (canWrite) void editing.save()
  }
  useSaveKey(save)
  return save
}
