import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Flow } from '../../../../core/flow/flow.ts'
import type { MaybeTheme } from '../../../../core/flow/merged-theme.ts'
import { languages, look } from './appearance.ts'
import type { FromFrame, ToFrame } from './messages.ts'

/** How the flow in the preview has ended, if it has. Its visitor would see no more of it. */
export type Ended = 'completed' | 'dismissed' | null

/** Tells the frame what to show, and hears what happens in it. */
export function useFrame(
  flow: Flow | null,
  part: string | null,
  onPart: (key: string | null) => void,
  theme: MaybeTheme,
) {
  const ref = useRef<HTMLIFrameElement>(null)
  /** How often its document was loaded. After each load it knows nothing. */
  const loads = useSignal(0)
  const shown = useSignal<string | null>(null)
  const ended = useSignal<Ended>(null)
  const link = useSignal<string | null>(null)
  /** The listener is made only once, but has to call the current function. */
  const went = useRef(onPart)
  went.current = onPart

  // The frame has an opaque origin, which cannot be named as a target. Its window is checked instead.
  const send = (message: ToFrame) => ref.current?.contentWindow?.postMessage(message, '*')

  useEffect(() => {
    const hear = ({ source, origin, data }: MessageEvent<FromFrame>) => {
      const isOurs = source !== null && source === ref.current?.contentWindow
      if (!isOurs || origin !== 'null') return
      if (data.type === 'ready') {
        languages.value = data.languages
        loads.value++
      } else if (data.type === 'ended') ended.value = data.outcome
      else if (data.type === 'link') link.value = data.href
      else {
        shown.value = data.key
        ended.value = null
        if (!data.isByVisitor) return
        link.value = null
        went.current(data.key)
      }
    }
    addEventListener('message', hear)
    return () => removeEventListener('message', hear)
  }, [])

  useSignalEffect(() => {
    if (loads.value > 0) send({ type: 'look', look: look.value })
  })
  const loaded = loads.value
  useLayoutEffect(() => {
    if (loaded > 0 && flow) send({ type: 'show', flow, part, theme })
  }, [loaded, flow, part, theme])

  return { ref, shown, ended, link, send }
}
