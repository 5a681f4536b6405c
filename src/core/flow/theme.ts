import { type Static, Type } from '@sinclair/typebox'
import {
  closed,
  colour,
  fontFamily,
  imageLink,
  nullable,
  oneOf,
  optionalColour,
  text,
} from './values.ts'

const px = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description })

/** The highest layer that browsers support. */
const highestLayer = 2_147_483_647

/**
 * How flows look. The first four fields are null if they are not set, as in what older releases have
 * stored; all others are absent then.
 */
export const Theme = closed({
  accent: colour('Colour of buttons and highlights, such as "#1f6feb".'),
  background: colour('Colour behind the text.'),
  text: colour('Colour of the text.'),
  radius: nullable(
    Type.Integer({ minimum: 0, maximum: 64 }),
    'How round the corners are, in CSS pixels.',
  ),
  preset: Type.Optional(
    oneOf(
      {
        calm: 'roomy, gently rounded, with a soft shadow and dots for progress',
        sharp: 'compact, square corners, a firm line and no shadow',
        soft: 'very round and roomy, larger text, a soft shadow and no line',
        bold: 'large text, a thick line, a strong shadow and a bar for progress',
      },
      { description: 'A named look to begin with; every other field wins over it.' },
    ),
  ),
  dark: Type.Optional(
    closed(
      {
        accent: optionalColour('Colour of buttons and highlights on a dark page.'),
        background: optionalColour('Colour behind the text on a dark page.'),
        text: optionalColour('Colour of the text on a dark page.'),
        logo: Type.Optional(imageLink('Logo that is seen on a dark page.')),
      },
      {
        description:
          'Colours and logo where the page is dark; without them, the usual ones hold there too.',
      },
    ),
  ),
  font: Type.Optional(
    closed(
      {
        family: Type.Optional(
          fontFamily(
            'Fonts that the page has, the preferred first, such as Inter, sans-serif; those of the ' +
              'page itself where left out.',
          ),
        ),
        size: Type.Optional(
          px(10, 24, 'Size of the text in CSS pixels, 15 where left out; headings follow it.'),
        ),
      },
      { description: 'Font and size of the text.' },
    ),
  ),
  border: Type.Optional(
    closed(
      {
        color: optionalColour('Colour of the line around cards and buttons.'),
        width: Type.Optional(
          px(0, 8, 'Width of that line in CSS pixels, 1 where left out; 0 for none.'),
        ),
      },
      { description: 'The line around cards and buttons.' },
    ),
  ),
  shadow: Type.Optional(
    oneOf(
      { none: 'no shadow', soft: 'a wide, pale one', strong: 'a deep one' },
      { description: 'The shadow below cards.' },
    ),
  ),
  density: Type.Optional(
    oneOf(
      { compact: 'little room', normal: 'the usual room', roomy: 'much room' },
      { description: 'How much room there is within cards.' },
    ),
  ),
  zIndex: Type.Optional(
    px(
      0,
      highestLayer,
      'Layer of the page on which flows stand, so that something of yours can stand above them; ' +
        'above everything where left out. Windows always are.',
    ),
  ),
  logo: Type.Optional(
    imageLink(
      'Image above the heading of windows, slide-outs and checklists: an https address, or a ' +
        'relative one such as /logo.svg.',
    ),
  ),
  launcher: Type.Optional(
    closed(
      {
        side: Type.Optional(
          oneOf(
            { start: 'where lines begin', end: 'where lines end' },
            { description: 'In which lower corner of the page it stands.' },
          ),
        ),
        label: Type.Optional(
          text(1, 60, { description: 'What it says, in place of the heading and its progress.' }),
        ),
      },
      { description: 'The button that opens a checklist.' },
    ),
  ),
  progress: Type.Optional(
    oneOf(
      {
        words: 'a text, such as "2 of 5"',
        dots: 'a dot for every step',
        bar: 'a bar that fills',
        none: 'nothing',
      },
      { description: 'How a tour says how far it is.' },
    ),
  ),
  spotlight: Type.Optional(
    oneOf(
      {
        off: 'the page stays as it is',
        dim: 'the page is dimmed around the element, and can be used',
        block: 'the page is dimmed, and nothing but the element can be used',
      },
      { description: 'What becomes of the page around the element that a step points at.' },
    ),
  ),
})
export type Theme = Static<typeof Theme>
