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
  radius: nullable(Type.Integer({ minimum: 0, maximum: 64 }), 'Corner radius in CSS pixels.'),
  preset: Type.Optional(
    oneOf(
      {
        calm: 'roomy, gently rounded, with a soft shadow and dots for progress',
        sharp: 'compact, square corners, a firm line and no shadow',
        soft: 'very round and roomy, larger text, a soft shadow and no line',
        bold: 'large text, a thick line, a strong shadow and a bar for progress',
      },
      { description: 'Named appearance to start from. Every other field overrides it.' },
    ),
  ),
  dark: Type.Optional(
    closed(
      {
        accent: optionalColour('Colour of buttons and highlights on a dark page.'),
        background: optionalColour('Colour behind the text on a dark page.'),
        text: optionalColour('Colour of the text on a dark page.'),
        logo: Type.Optional(imageLink('Logo on a dark page.')),
      },
      {
        description: 'Colours and logo on dark pages. Missing ones default to the light values.',
      },
    ),
  ),
  font: Type.Optional(
    closed(
      {
        family: Type.Optional(
          fontFamily(
            'Font families that the page has loaded, in order of preference, such as Inter, sans-serif. ' +
              "Defaults to the page's fonts.",
          ),
        ),
        size: Type.Optional(
          px(10, 24, 'Text size in CSS pixels. Headings scale with it. Defaults to 15.'),
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
          px(0, 8, 'Width of the line in CSS pixels. 0 for none. Defaults to 1.'),
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
      { compact: 'tight spacing', normal: 'default spacing', roomy: 'wide spacing' },
      { description: 'Spacing within cards.' },
    ),
  ),
  zIndex: Type.Optional(
    px(
      0,
      highestLayer,
      'z-index of flows, so that elements of your page can stand above them. Modals are always on top. ' +
        'Defaults to above everything.',
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
            { description: 'Lower corner of the page.' },
          ),
        ),
        label: Type.Optional(
          text(1, 60, { description: 'Label. Defaults to the heading and the progress.' }),
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
      { description: 'How a tour shows its progress.' },
    ),
  ),
  spotlight: Type.Optional(
    oneOf(
      {
        off: 'the page stays as it is',
        dim: 'the page is dimmed around the element, and can be used',
        block: 'the page is dimmed, and nothing but the element can be used',
      },
      { description: 'What happens to the page around the element of a step.' },
    ),
  ),
})
export type Theme = Static<typeof Theme>

/** How a step is drawn. Fields that a step does not set are absent everywhere. */

const pixels = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description }))

/** An image or a video above the text of a step. */
const Media = closed(
  {
    image: Type.Optional(imageLink('Address of an image: https: or relative.')),
    video: Type.Optional(imageLink('Address of a video file, an MP4 say: https: or relative.')),
    alt: Type.Optional(
      text(0, 1_000, { description: 'Alternative text, for people who cannot see it.' }),
    ),
    poster: Type.Optional(imageLink('Address of the image that is shown before the video plays.')),
    captions: Type.Optional(
      imageLink('Address of captions for a video, as WebVTT. Another site must allow CORS.'),
    ),
    width: pixels(
      'Width of the file in pixels. With the height, the space is reserved while it loads.',
    ),
    height: pixels('Height of the file in pixels.'),
  },
  { description: 'An image or a video above the text.' },
)
export type Media = Static<typeof Media>

export const lookFields = {
  media: Type.Optional(Media),
  spotlight: Type.Optional(
    oneOf(
      {
        off: 'the page stays as it is; a tooltip has a ring around its element',
        dim: 'the page is darkened around the element, and can be used',
        block: 'the page is darkened, and only the element and the step can be used',
      },
      {
        description:
          "What happens to the page around the element. Defaults to the theme's value, then to dim for a " +
          'tooltip that does not wait for an event, and off otherwise.',
      },
    ),
  ),
  banner: Type.Optional(
    closed(
      {
        edge: oneOf(
          { top: 'at the upper edge', bottom: 'at the lower edge' },
          { default: 'top', description: 'Edge of the window at which a banner is placed.' },
        ),
        layout: oneOf(
          { float: 'over the page', push: 'the page makes room for it' },
          { default: 'float', description: 'Whether a banner covers some of the page.' },
        ),
      },
      { description: 'Where a banner is placed. Defaults to the top, over the page.' },
    ),
  ),
  opens: Type.Optional(
    oneOf(
      {
        click: 'by a click or the keyboard',
        hover: 'while the mouse or the keyboard focus is on the dot; a click keeps it open',
      },
      { description: 'How the dot of a hotspot opens. Defaults to a click.' },
    ),
  ),
}
