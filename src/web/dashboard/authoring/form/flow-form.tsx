import { useRef } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { isOneMessage, listPaths, lists, listsOf } from './entries.ts'
import { EntryHead } from './entry-head.tsx'
import { Fields } from './fields.tsx'
import { details, itemGroups, pagesAndPeople } from './flow-tables.ts'
import { FormContext, isUnder, pointerOf } from './form.ts'
import { LanguagesPart } from './languages.tsx'
import { OutlineLink, OutlineList } from './outline.tsx'
import { isOf, partNames, parts } from './parts.ts'
import { Problems } from './problems.tsx'
import { stepGroups } from './step-table.ts'
import { type FlowFormProps, useEntries } from './use-entries.ts'
import { scheduleAndRollout } from './when-table.ts'

/** A flow as fields, for authors who write no YAML. */
export function FlowForm({ part, onPart, goTo = null, ...form }: FlowFormProps) {
  const { flow, problems, isLocked } = form
  const detail = useRef<HTMLDivElement>(null)
  const entries = useEntries({ ...form, part, onPart, goTo }, detail)
  const { shown, entry, count, done, choose, add, duplicate, moveTo, remove } = entries
  const path = entry && [...listPaths[entry.list], entry.index]
  const isMessage = isOneMessage(flow)
  const ofFlow = problems.filter(
    ({ path: place }) => !lists.some(list => isUnder(place, pointerOf(listPaths[list]))),
  )
  return (
    <FormContext.Provider value={form}>
      <Problems
        of={ofFlow.filter(({ path: place }) => !partNames.some(name => isOf(name, place)))}
      />
      <div class="flow-form">
        <div class="flow-form-columns stack gap-5">
          <nav class="outline stack" aria-label="Parts of the flow">
            <div class="outline-section stack gap-1">
              {isMessage && (
                <OutlineLink
                  isChosen={entry !== undefined}
                  problems={problems.filter(({ path: place }) => isUnder(place, '/steps'))}
                  onChoose={() => choose({ list: 'steps', index: 0 })}
                >
                  <span class="grow ellipsis">Message</span>
                </OutlineLink>
              )}
              {partNames.map(name => (
                <OutlineLink
                  key={name}
                  isChosen={shown === name}
                  problems={ofFlow.filter(({ path: place }) => isOf(name, place))}
                  onChoose={() => choose(name)}
                >
                  <span class="grow ellipsis">{parts[name].name}</span>
                </OutlineLink>
              ))}
            </div>
            {!isMessage &&
              listsOf(flow).map(list => (
                <OutlineList
                  key={list}
                  list={list}
                  chosen={entry?.list === list ? entry.index : null}
                  onChoose={index => choose({ list, index })}
                  onMove={moveTo}
                  onAdd={() => add(list)}
                />
              ))}
            <div role="status" class="form-status">
              {done.value && <span>{done.value.text}</span>}
              {done.value?.undo && (
                <Button look="quiet" onClick={done.value.undo}>
                  Undo
                </Button>
              )}
            </div>
          </nav>
          <div class="detail" ref={detail}>
            {entry && !isMessage ? (
              <EntryHead
                entry={entry}
                count={count}
                onMove={to => moveTo(entry, to)}
                onDuplicate={() => duplicate(entry)}
                onRemove={() => remove(entry)}
              />
            ) : (
              <h2>{typeof shown === 'string' ? parts[shown].name : 'Message'}</h2>
            )}
            <fieldset
              class="detail-fields stack gap-5"
              disabled={isLocked}
              key={path ? pointerOf(path) : `${shown}`}
            >
              {path && <Fields of={entry!.list === 'steps' ? stepGroups : itemGroups} at={path} />}
              {typeof shown === 'string' && (
                // Those of a mapping around the fields.
                <Problems
                  of={ofFlow.filter(
                    ({ path: place }) =>
                      isOf(shown, place) &&
                      !parts[shown].places.some(field => isUnder(place, field)),
                  )}
                />
              )}
              {shown === 'details' && <Fields of={details} />}
              {shown === 'where' && <Fields of={pagesAndPeople} />}
              {shown === 'when' && <Fields of={scheduleAndRollout} />}
              {shown === 'languages' && <LanguagesPart />}
            </fieldset>
          </div>
        </div>
      </div>
    </FormContext.Provider>
  )
}
