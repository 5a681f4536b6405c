import { Icon } from '../../parts/icon.tsx'
import type { FlowProblem } from './form.ts'

/** Problems at a place that has no field of its own, the worst first. */
export function Problems({ of }: { of: readonly FlowProblem[] }) {
  if (of.length === 0) return null
  const sorted = of.toSorted(
    (a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'),
  )
  return (
    <ul class="field-problems stack gap-1 break">
      {sorted.map(({ severity, code, path, message }) => (
        <li key={`${path} ${code} ${message}`} class={severity}>
          <Icon name="warning" size={14} />
          <span>
            <span class="unseen">{severity === 'error' ? 'Error' : 'Warning'}: </span>
            {message}
          </span>
        </li>
      ))}
    </ul>
  )
}
