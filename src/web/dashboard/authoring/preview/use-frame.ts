import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Flow } from '../../../../core/flow/flow.ts'
import type { MaybeTheme } from '../../../../core/flow/merged-theme.ts'
import { languages, look } from './looks.ts'
import type { FromFrame, ToFrame } from './messages.ts'

/** What has become of the flow in the preview, which its visitor would see no more of. */
export type Ended = 'completed' | 'dismissed' | null

/** Tells the frame what to show, and hears what is done in it. */
export function useFrame(
  flow: Flow | null,
  part: string | null,
  onPart: (key: string | null) => void,
  theme: MaybeTheme,
) {
  const ref = useRef<HTMLIFrameElement>(null)
  /** How often its document was loaded: each time it knows nothing. */
  const loads = useSignal(0)
  const shown = useSignal<string | null>(null)
  const ended = useSignal<Ended>(null)
  const link = useSignal<string | null>(null)
  /** The listener is made once, and what it calls is of now. */
  const went = useRef(onPart)
  went.current = onPart

  // The frame's origin is nobody's, so there is none to name: the window is held against it instead.
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
