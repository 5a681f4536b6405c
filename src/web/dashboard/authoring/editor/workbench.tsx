import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { editorWords as words } from '../../words/editor.ts'
import type { Editing } from './editing.ts'
import { Leave } from './leave.tsx'
import { MergeDialog } from './merge-dialog.tsx'
import { EditorNotice, LeftWork } from './notices.tsx'
import { SideChoice, Sides, useSide } from './sides.tsx'
import { useJudging, useKeeping } from './use-editing.ts'

/** Saves by the usual keys for saving. */
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

/** The outcome of the last save, and whether there is something to save. */
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

/** A flow that is being written, with everything to know about it. */
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
  const [side] = useSide()
  const isFailing = useJudging(editing)
  const { isKept, left, isElsewhere, discard, goOn } = useKeeping(editing)
  const save = useSaving(editing, canWrite)
  const { clash, isBusy, isDirty } = editing
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
        <SideChoice />
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
      <Sides editing={editing} isReadOnly={!canWrite} isFailing={isFailing} />
      {side === 'yaml' && <Keys />}
      {isDirty.value && <Leave isKept={isKept} />}
      {clash.value && (
        <MergeDialog
          clash={clash.value}
          onResolve={choices => void editing.resolve(choices)}
          onClose={() => (clash.value = null)}
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
