import checklist from './checklist.yaml' with { type: 'text' }
import featureAnnouncement from './feature-announcement.yaml' with { type: 'text' }
import featureTour from './feature-tour.yaml' with { type: 'text' }
import feedback from './feedback.yaml' with { type: 'text' }
import maintenance from './maintenance.yaml' with { type: 'text' }
import missedFeature from './missed-feature.yaml' with { type: 'text' }
import nps from './nps.yaml' with { type: 'text' }
import resourceCentre from './resource-centre.yaml' with { type: 'text' }
import upgrade from './upgrade.yaml' with { type: 'text' }
import welcomeTour from './welcome-tour.yaml' with { type: 'text' }
import whatsNew from './whats-new.yaml' with { type: 'text' }

/** A complete flow to begin with. */
export interface Template {
  /** In addresses. */
  id: string
  goal: string
  /** What visitors see. */
  why: string
  /** What is still to be done before it is published, if anything. */
  todo?: string
  picture: PictureName
  /** A flow file. */
  text: string
}

export type PictureName =
  | 'window'
  | 'pointer'
  | 'list'
  | 'card'
  | 'banner'
  | 'dot'
  | 'score'
  | 'stars'
  | 'launcher'

const pickElement = 'Pick its elements on your page before you publish it.'

/** Templates by what they are for, in the order in which most teams need them. */
export const goals: readonly (readonly [goal: string, templates: readonly Template[]])[] = [
  [
    'Onboard new people',
    [
      {
        id: 'welcome-tour',
        goal: 'Welcome tour',
        why: 'A greeting and two first things to do, once per person.',
        picture: 'window',
        text: welcomeTour,
      },
      {
        id: 'checklist',
        goal: 'Getting-started checklist',
        why: 'Three things to tick off, until all are done.',
        picture: 'list',
        text: checklist,
      },
      {
        id: 'feature-tour',
        goal: 'Tour of a feature',
        why: 'Points at the elements of a feature, one after the other.',
        todo: pickElement,
        picture: 'pointer',
        text: featureTour,
      },
    ],
  ],
  [
    'Announce something',
    [
      {
        id: 'feature-announcement',
        goal: 'Feature announcement',
        why: 'One message in the middle of the page, once per person.',
        picture: 'window',
        text: featureAnnouncement,
      },
      {
        id: 'whats-new',
        goal: 'What’s new',
        why: 'A card in a corner that leaves the page usable.',
        picture: 'card',
        text: whatsNew,
      },
      {
        id: 'maintenance',
        goal: 'Maintenance notice',
        why: 'A bar across the top of every page.',
        picture: 'banner',
        text: maintenance,
      },
    ],
  ],
  [
    'Get features used',
    [
      {
        id: 'resource-centre',
        goal: 'Resource centre',
        why: 'A button that opens help links, tours and your announcements, always within reach.',
        todo: 'Its links lead to example.com: change them to your own.',
        picture: 'launcher',
        text: resourceCentre,
      },
      {
        id: 'missed-feature',
        goal: 'Hint for a missed feature',
        why: 'A dot beside an element, with a card that opens on a click.',
        todo: pickElement,
        picture: 'dot',
        text: missedFeature,
      },
      {
        id: 'upgrade',
        goal: 'Upgrade notice',
        why: 'An offer for people on the free plan.',
        todo: 'It is shown to people whose trait “plan” is “free”. Change that if your plans have other names.',
        picture: 'card',
        text: upgrade,
      },
    ],
  ],
  [
    'Ask people',
    [
      {
        id: 'nps',
        goal: 'NPS survey',
        why: 'How likely people are to recommend you, and why.',
        picture: 'score',
        text: nps,
      },
      {
        id: 'feedback',
        goal: 'Feedback on a page',
        why: 'Stars, and what to improve.',
        picture: 'stars',
        text: feedback,
      },
    ],
  ],
]

export const templates: readonly Template[] = goals.flatMap(([, ofGoal]) => ofGoal)
