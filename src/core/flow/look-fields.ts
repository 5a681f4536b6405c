import { type Static, Type } from '@sinclair/typebox'
import { closed, imageLink, oneOf, text } from './values.ts'

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
