/** Drawn on a field of 16 by 16, with strokes in the colour of the text. */
const paths = {
  home: 'M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z',
  flows: 'M2.5 3.5h5v3h-5zM8.5 9.5h5v3h-5zM5 6.5v4.5h3.5',
  health: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  activity: 'M2.5 4h.1M5.5 4h8M2.5 8h.1M5.5 8h8M2.5 12h.1M5.5 12h5',
  install: 'M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11',
  explain:
    'M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1v.5M8 11.8v.2M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8',
  person:
    'M8 2.5a2.7 2.7 0 1 1 0 5.4 2.7 2.7 0 0 1 0-5.4M2.8 13.8c.5-2.7 2.6-4 5.2-4s4.7 1.3 5.2 4',
  settings: 'M2.5 4.500h6M11.5 4.500h2M10 3v3M2.5 11.500h2M7.5 11.500h6M6 10v3',
  audit: 'M4 2.500h8v11l-2-1.5-2 1.5-2-1.5-2 1.500zM6.5 5.500h3M6.5 8.500h3',
  key: 'M10.5 2.500a3 3 0 1 1-2.8 4.100L2.5 11.800v1.700h2.200l.8-.8v-1.200h1.200l2.4-2.400M11 5.200v.1',
  server: 'M2.5 2.500h11v4.500h-11zM2.5 9h11v4.500h-11zM5 4.750h.1M5 11.250h.1',
  search: 'M7 2.500a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.3 10.300l3.4 3.4',
  menu: 'M2.5 4.500h11M2.5 8h11M2.5 11.500h11',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.500v-3h-8v8h3',
  down: 'M4.5 6.5 8 10l3.5-3.5',
  right: 'M6.5 4.5 10 8l-3.5 3.5',
  download: 'M8 2.500v7M5 6.500l3 3 3-3M3 13h10',
  signOut: 'M6 2.500H3v11h3M7 8h6.500M11 5.5 13.5 8 11 10.5',
  warning: 'M8 2.2 14.3 13.300H1.700zM8 6.500v3M8 11.300v.2',
  done: 'M3 8.5 6.5 12 13 4.5',
  info: 'M8 1.800a6.2 6.2 0 1 1 0 12.400A6.2 6.2 0 0 1 8 1.800M8 7.300v3.900M8 4.800v.2',
  calendar: 'M2.5 3.500h11v10h-11zM2.5 6.500h11M5.5 2v3M10.5 2v3',
  book: 'M8 4c-1.5-1.2-3.3-1.5-5.5-1.500v9.500c2.2 0 4 .3 5.5 1.5 1.5-1.2 3.3-1.5 5.5-1.500V2.500C11.3 2.5 9.5 2.8 8 4zM8 4v9.5',
  add: 'M8 3v10M3 8h10',
  up: 'M4.5 9.5 8 6l3.5 3.5',
  remove: 'M3 4.5h10M6.500 4.500v-2h3v2M4.5 4.500l.5 9h6l.5-9M6.800 7v4M9.200 7v4',
  grip: 'M6 4h.1M10 4h.1M6 8h.1M10 8h.1M6 12h.1M10 12h.1',
  edit: 'M10.5 3 13 5.5 6 12.500l-3 .5.5-3z',
} as const

export type IconName = keyof typeof paths

/** A small drawing beside words. It never carries a meaning alone. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}

/** A cairn: stones that somebody has piled up so that others find the way. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg class="mark" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <ellipse cx="8" cy="13" rx="6.5" ry="2.4" />
      <ellipse cx="8" cy="8.2" rx="4.6" ry="2" />
      <ellipse cx="8" cy="4" rx="2.8" ry="1.7" />
    </svg>
  )
}
