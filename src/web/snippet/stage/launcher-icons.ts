/** Lines in a square of 24 units, as `icon` draws them. */
export const launcherIcons = {
  help: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.3 9.2a2.8 2.8 0 0 1 5.4 1c0 1.9-2.7 2.4-2.7 3.9M12 17.2v.1',
  book: 'M12 6.5C10 5 7.5 4.5 4 4.5v13.8c3.5 0 6 .5 8 2 2-1.5 4.5-2 8-2V4.5c-3.5 0-6 .5-8 2zM12 6.5v13.8',
  bulb: 'M9.5 17.5h5M10 20.5h4M12 3a6 6 0 0 0-3.8 10.6c.8.7 1.3 1.6 1.3 2.7v1.2h5v-1.2c0-1.1.5-2 1.3-2.7A6 6 0 0 0 12 3z',
  gift: 'M4 8.5h16v4H4zM5.5 12.5V20h13v-7.5M12 8.5V20M12 8.5S10.8 4 8.5 4a2.2 2.2 0 0 0 0 4.5zM12 8.5S13.2 4 15.5 4a2.2 2.2 0 0 1 0 4.5z',
} as const

export const itemIcons = {
  page: 'M7 3.5h7l4 4v13H7zM14 3.5v4h4M10 12h5M10 15.5h5',
  mail: 'M4 6.5h16v11.5H4zM4.5 7l7.5 6 7.5-6',
  link: 'M9.5 6H6v12h12v-3.5M13 5h6v6M19 5l-8.5 8.5',
  start: 'M8 5.5v13l11-6.5z',
  news: 'M4 10v4h3l7 4V6l-7 4zM17.5 9.5a4 4 0 0 1 0 5',
} as const
