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
      text(0, 1_000, { description: 'What it shows, for those who do not see it.' }),
    ),
    poster: Type.Optional(imageLink('Address of the image that stands for the video at first.')),
    captions: Type.Optional(
      imageLink('Address of the captions, as WebVTT, of a video; on another site, with CORS.'),
    ),
    width: pixels('Width of the file in pixels. With the height, room is kept while it loads.'),
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
        dim: 'the page is darkened around the element, and can be used as ever',
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
          { default: 'top', description: 'At which edge of the window a banner stands.' },
        ),
        layout: oneOf(
          { float: 'over the page', push: 'the page makes room for it' },
          { default: 'float', description: 'Whether a banner covers some of the page.' },
        ),
      },
      { description: 'Where a banner stands: over the upper edge of the page, unless set here.' },
    ),
  ),
  opens: Type.Optional(
    oneOf(
      {
        click: 'by a click or the keyboard',
        hover: 'as a hint while the mouse or the keyboard is on the dot, and to stay by a click',
      },
      { description: 'How the dot of a hotspot opens; by a click where left out.' },
    ),
  ),
}
