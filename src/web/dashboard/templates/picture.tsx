import type { JSX } from 'preact'
import type { PictureName } from './templates.ts'

const text = 'var(--gray-7)'
const accent = 'var(--accent-9)'

/** A card with a heading and lines of text. */
const Card = ({
  x,
  y,
  width = 52,
  lines = 2,
  height = 14 + lines * 6,
}: Record<'x' | 'y', number> & CardSize) => (
  <>
    <rect
      fill="var(--ground-raised)"
      stroke="var(--gray-6)"
      x={x}
      y={y}
      width={width}
      height={height}
      rx="4"
    />
    <rect fill="var(--gray-11)" x={x + 6} y={y + 6} width={width * 0.55} height="3" rx="1.5" />
    {Array.from({ length: lines }, (_, i) => (
      <rect
        key={i}
        fill={text}
        x={x + 6}
        y={y + 13 + i * 6}
        width={width * (i === lines - 1 ? 0.5 : 0.75)}
        height="2"
        rx="1"
      />
    ))}
  </>
)

interface CardSize {
  width?: number
  lines?: number
  height?: number
}

const marks = (x: number, y: number, shape: (at: number, i: number) => JSX.Element, count = 5) =>
  Array.from({ length: count }, (_, i) => shape(x + i * 9, i)).map((mark, i) => (
    <g key={i} transform={`translate(0 ${y})`}>
      {mark}
    </g>
  ))

const drawings: Record<PictureName, () => JSX.Element> = {
  window: () => (
    <>
      <rect fill="var(--gray-9)" opacity="0.35" width="120" height="72" rx="6" />
      <Card x={28} y={18} width={64} lines={3} />
    </>
  ),
  pointer: () => (
    <>
      <rect fill={accent} x="12" y="16" width="22" height="9" rx="3" />
      <Card x={40} y={12} width={64} />
    </>
  ),
  list: () => (
    <>
      <Card x={58} y={10} lines={6} />
      {[23, 35, 47].map(y => (
        <circle key={y} fill={accent} cx="102" cy={y} r="3" />
      ))}
    </>
  ),
  card: () => <Card x={58} y={38} />,
  banner: () => <rect fill={accent} width="120" height="12" rx="4" />,
  dot: () => (
    <>
      <circle fill={accent} cx="28" cy="24" r="5" />
      <Card x={40} y={18} width={64} />
    </>
  ),
  score: () => (
    <>
      <Card x={28} y={34} width={84} lines={0} height={30} />
      {marks(34, 50, (x, i) => (
        <rect fill={i < 4 ? text : accent} x={x} y="-2" width="7" height="7" rx="2" />
      ))}
    </>
  ),
  launcher: () => (
    <>
      <Card x={58} y={8} lines={5} />
      <rect fill={accent} x="84" y="58" width="26" height="9" rx="4.5" />
    </>
  ),
  stars: () => (
    <>
      <Card x={50} y={34} width={62} lines={0} height={30} />
      {marks(60, 52, (x, i) => (
        <circle fill={i < 4 ? accent : text} cx={x} cy="0" r="3.5" />
      ))}
    </>
  ),
}

/** What a template looks like on a page, in outline. */
export const Picture = ({ name }: { name: PictureName }) => (
  <svg class="template-picture" viewBox="0 0 120 72" aria-hidden="true">
    <rect fill="var(--gray-3)" width="120" height="72" rx="6" />
    {[20, 30, 40, 50].map(y => (
      <rect key={y} fill="var(--gray-5)" x="12" y={y} width={96 - y} height="3" rx="1.5" />
    ))}
    {drawings[name]()}
  </svg>
)
