/**
 * Ids that a library counts or draws at every rendering, so that the next page view has others. Each
 * pattern is one library's documented or well-known form.
 */
const generated: readonly RegExp[] = [
  // React's useId (:r1:, «r1», _r_1_), also within the ids of what is built on it (radix-:r1:).
  /:[rR]\w*:|«[rR]\w*»|(?:^|-)_[rR]_\w+_/,
  // Vue's useId, Ember, MUI, Angular Material and its CDK, jQuery UI, Ext JS, GWT.
  /^(?:v[-:]|ember|mui-|(?:mat|cdk|ng)-[a-z-]+-|ui-id-|ext-(?:gen|comp-)|gwt-uid-)\d+/,
  // Headless UI, Radix, react-select, rc-*, Downshift, React Aria: a name, a number, perhaps a part.
  /^(?:headlessui-[a-z-]+|radix|react-select|rc[_-][a-z_-]+|downshift|react-aria)[-_]?\d+/,
  // A UUID (RFC 9562), alone or after a prefix.
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i,
]

/** The id where an author chose it; undefined where there is none, or a library made it up. */
export function authoredId(id: string | undefined): string | undefined {
  return id !== undefined && generated.some(pattern => pattern.test(id)) ? undefined : id
}
