/** Drawn, because a page's policy may forbid loading pictures, and not every font has these signs. */
const paths = {
  undo: 'M6 3 3 6l3 3M3 6h6a4 4 0 0 1 0 8H7',
  freeze: 'M8 2v12M3 5l10 6M13 5 3 11',
  close: 'M4 4l8 8M12 4l-8 8',
  move: 'M2 8h12M5 5 2 8l3 3M11 5l3 3-3 3',
  add: 'M8 3v10M3 8h10',
  earlier: 'M10 3 5 8l5 5',
  later: 'M6 3l5 5-5 5',
  delete: 'M3 4h10M6 4V2.5h4V4M4.5 4l.7 9.5h5.6l.7-9.5',
  list: 'M6 4h7M6 8h7M6 12h7M3 4h.01M3 8h.01M3 12h.01',
  link: 'M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 0 1 3.5 3.5L10.500 8.500M9 11l-1.500 1.500a2.500 2.500 0 0 1-3.500-3.500L5.500 7.500',
  image: 'M2.500 3.500h11v9h-11zM3 11l3.500-3.500L9 10l1.500-1.500L13 11M10.500 6h.01',
  edit: 'M3 13l.6-2.600L10.500 3.500l2 2-6.900 6.900z',
} as const
export type IconName = keyof typeof paths

export const Icon = ({ name }: { name: IconName }) => (
  <svg class={`icon-drawing icon-${name}`} viewBox="0 0 16 16" aria-hidden="true">
    <path
      d={paths[name]}
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
    />
  </svg>
)

export const IconButton = ({
  icon,
  label,
  onClick,
  ...more
}: {
  icon: IconName
  label: string
  onClick: () => void
  disabled?: boolean
  'aria-pressed'?: boolean
}) => (
  <button type="button" class="icon" aria-label={label} title={label} onClick={onClick} {...more}>
    <Icon name={icon} />
  </button>
)
