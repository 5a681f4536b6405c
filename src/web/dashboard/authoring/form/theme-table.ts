import type { Field, Group } from './table.ts'

/** The fields of a theme, whether a flow's or the organisation's. */

const colour = (at: string, label: string): Field => ({ at: `theme.${at}`, label, as: 'colour' })

const word = (at: string, label: string, names: Field['names']): Field => ({
  at: `theme.${at}`,
  label,
  as: 'choice',
  names,
  none: 'Not set',
})

export const themeGroups: readonly Group[] = [
  {
    title: 'Colours',
    help: '“On dark” is for pages in dark mode.',
    fields: [
      word('preset', 'Preset', { calm: 'Calm', sharp: 'Sharp', soft: 'Soft', bold: 'Bold' }),
      [colour('accent', 'Accent colour'), colour('dark.accent', 'Accent on dark')],
      [colour('background', 'Background colour'), colour('dark.background', 'Background on dark')],
      [colour('text', 'Text colour'), colour('dark.text', 'Text on dark')],
    ],
  },
  {
    title: 'Text and shape',
    fields: [
      [
        {
          at: 'theme.font.family',
          label: 'Fonts',
          help: 'Fonts that your page has loaded, in order of preference.',
          placeholder: 'Inter, sans-serif',
        },
        {
          at: 'theme.font.size',
          label: 'Text size',
          unit: 'pixels',
          as: 'number',
          placeholder: '15',
        },
      ],
      [
        word('density', 'Spacing', { compact: 'Compact', normal: 'Normal', roomy: 'Roomy' }),
        word('shadow', 'Shadow', { none: 'None', soft: 'Soft', strong: 'Strong' }),
        { at: 'theme.radius', label: 'Corner radius', unit: 'pixels', as: 'number' },
        { at: 'theme.border.width', label: 'Border width', unit: 'pixels', as: 'number' },
      ],
      colour('border.color', 'Border colour'),
    ],
  },
  {
    title: 'Around the text',
    fields: [
      [
        word('progress', 'Progress', { words: 'Words', dots: 'Dots', bar: 'Bar', none: 'None' }),
        word('spotlight', 'Spotlight', {
          off: 'Off',
          dim: 'Dim the page',
          block: 'Dim and block the page',
        }),
      ],
      [
        {
          at: 'theme.launcher.label',
          label: 'Launcher text',
          help: 'The button that opens a checklist.',
        },
        word('launcher.side', 'Launcher side', { start: 'Start', end: 'End' }),
      ],
      [
        { at: 'theme.logo', label: 'Logo', placeholder: '/logo.svg' },
        { at: 'theme.dark.logo', label: 'Logo on dark' },
      ],
      {
        at: 'theme.zIndex',
        label: 'Layer',
        as: 'number',
        help: 'The z-index of flows, if elements of your page must stand above them.',
      },
    ],
  },
]
