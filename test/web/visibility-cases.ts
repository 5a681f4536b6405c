import { expect } from 'bun:test'

/** What hides an element from people, and what does not. */

/** Pages by name. The element is `.t`. */
type Cases = Readonly<Record<string, string>>

const visible: Cases = {
  plain: '<button class=t>T</button>',
  contents: '<x-b class=t style="display:contents"><button>T</button></x-b>',
  'contents nested':
    '<x-b class=t style="display:contents"><x-c style="display:contents"><button>T</button></x-c></x-b>',
  'contents text': '<x-b class=t style="display:contents">Text</x-b>',
  'zero wrapper, absolute child':
    '<div class=t style="height:0"><div style="position:absolute">Menu</div></div>',
  'zero wrapper, float child':
    '<div class=t><div style="float:left">Menu</div></div><br clear=all>',
  'popper wrapper':
    '<div class=t style="position:absolute;width:0;height:0"><div style="width:90px;height:30px">x</div></div>',
  'switch over label':
    '<label style="position:relative;display:inline-block;width:60px;height:30px"><input class=t type=checkbox style="opacity:0;position:absolute;inset:0;width:100%;height:100%"></label>',
  'w3 switch':
    '<label style="position:relative;display:inline-block;width:60px;height:30px"><input class=t type=checkbox style="opacity:0;width:0;height:0"><span style="position:absolute;inset:0;background:red"></span></label>',
  'sr input, for':
    '<input class=t id=c1 type=checkbox style="position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0);margin:-1px"><label for=c1>Label</label>',
  'sr input clip-path':
    '<label><input class=t type=radio style="position:absolute;width:1px;height:1px;clip-path:inset(50%)">Label</label>',
  'sr peer sibling':
    '<div><input class=t type=checkbox style="position:absolute;width:1px;height:1px;clip-path:inset(50%)"><div style="width:40px;height:20px;background:red"></div></div>',
  'visually hidden wrapper':
    '<label><span style="position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"><input class=t type=checkbox></span>Label</label>',
  'display none input, label':
    '<input class=t id=c2 type=file style="display:none"><label for=c2>Upload</label>',
  'display none checkbox, label':
    '<input class=t id=c3 type=checkbox hidden><label for=c3>On</label>',
  'file, button': '<input class=t type=file hidden><button>Upload</button>',
  'off-left checkbox':
    '<input class=t id=c4 type=checkbox style="position:absolute;left:-9999px"><label for=c4>On</label>',
  'radix bubble':
    '<span><button role=switch>sw</button><input class=t type=checkbox aria-hidden style="position:absolute;pointer-events:none;opacity:0;margin:0;transform:translateX(-100%)"></span>',
  select2:
    '<select class=t style="position:absolute;width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden"><option>1</select><span style="display:inline-block;width:90px">Drawn</span>',
  'opacity select':
    '<div style="position:relative;width:80px;height:20px">Drawn<select class=t style="opacity:0;position:absolute;inset:0;width:100%"><option>1</select></div>',
  option: '<select><option class=t>one<option>two</select>',
  'listbox option': '<select size=2><option class=t>one<option>two</select>',
  area: '<img usemap="#m" width=200 height=100 style="background:teal"><map name=m><area class=t shape=rect coords="10,10,60,60" href="#"></map>',
  'svg g': '<svg width=100 height=50><g class=t><circle cx=20 cy=20 r=9 /></g></svg>',
  'svg line': '<svg width=100 height=50><line class=t x1=0 y1=20 x2=50 y2=20 stroke=red /></svg>',
  'inline two lines':
    '<p style="width:120px">Some <a class=t href="#">link that goes over lines of it</a></p>',
  'inline block inside': '<a class=t href="#"><div>block</div></a>',
  'table row': '<table><tr class=t><td>a</table>',
  'scrolled out':
    '<div style="height:60px;overflow:auto"><div style="height:300px"></div><button class=t>T</button></div>',
  'scrolled past':
    '<div style="height:60px;overflow:auto" data-scroll=400><button class=t>T</button><div style="height:900px"></div></div>',
  'scrolled out x':
    '<div style="width:60px;overflow:auto"><div style="width:900px"><button class=t style="margin-left:700px">T</button></div></div>',
  'rtl scroller':
    '<div dir=rtl style="width:60px;overflow:auto"><div style="width:900px"><button class=t style="margin-right:700px">T</button></div></div>',
  'column-reverse':
    '<div style="display:flex;flex-direction:column-reverse;height:60px;overflow:auto"><div style="flex:none;height:600px"></div><button class=t style="flex:none">T</button></div>',
  'below the fold':
    '<div style="height:3000px;width:1px;float:right"></div><div style="position:absolute;top:2500px"><button class=t>T</button></div>',
  'fixed in clipped':
    '<div style="height:0;overflow:hidden"><button class=t style="position:fixed;top:5px;left:5px">T</button></div>',
  'absolute past clipped static':
    '<div style="position:relative"><div style="height:0;overflow:hidden"><button class=t style="position:absolute;top:0">T</button></div></div>',
  sticky: '<button class=t style="position:sticky;top:0">T</button>',
  'part clipped':
    '<div style="height:10px;overflow:hidden"><button class=t style="height:40px">T</button></div>',
  'half clip-path': '<div style="clip-path:inset(0 50% 0 0)"><button class=t>T</button></div>',
  'polygon arrow': '<button class=t style="clip-path:polygon(0 0, 100% 50%, 0 100%)">T</button>',
  'circle avatar': '<div style="clip-path:circle(50%)"><button class=t>T</button></div>',
  'opacity .4': '<button class=t disabled style="opacity:.4">T</button>',
  'visible in hidden':
    '<div style="visibility:hidden"><button class=t style="visibility:visible">T</button></div>',
  'open details': '<details open><summary>S</summary><button class=t>T</button></details>',
  summary: '<details><summary class=t>S</summary>x</details>',
  shadow: '<div data-shadow="<button class=t>T</button>"></div>',
  slotted: '<div data-shadow="<section><slot></slot></section>"><button class=t>T</button></div>',
  'contents host': '<x-s class=t style="display:contents" data-shadow="<button>T</button>"></x-s>',
  'slot contents':
    '<x-s class=t style="display:contents" data-shadow="<slot></slot>"><button>T</button></x-s>',
  transformed:
    '<div style="transform:rotate(90deg) scale(1.5);width:200px;margin:160px"><button class=t>T</button></div>',
  zoomed: '<div style="zoom:2"><button class=t>T</button></div>',
  'modal in clipped':
    '<div style="height:0;overflow:hidden"><dialog data-modal><button class=t>T</button></dialog></div>',
  hr: '<hr class=t style="border:0;height:1px">',
  'text-indent image':
    '<a class=t style="display:inline-block;width:40px;height:40px;text-indent:-9999px;overflow:hidden">Logo</a>',
  'negative margin': '<button class=t style="margin-left:-20px">T</button>',
  disabled: '<button class=t disabled>T</button>',
  'aria-hidden': '<div aria-hidden=true><button class=t>T</button></div>',
  'on a page from right to left, far to the left':
    '<div dir="rtl" data-page="rtl"><div style="width:3000px"><button class=t style="margin-right:2500px">T</button></div></div>',
  'a page that must not scroll just now':
    '<style>body{overflow:hidden}</style><div style="height:3000px"></div><button class=t>T</button>',
  'a body that is fixed just now':
    '<style>body{position:fixed;top:-500px;overflow:hidden}</style><button class=t>T</button><div style="height:3000px"></div>',
  'a body that scrolls by itself':
    '<style>html{height:100%;overflow:hidden}body{height:100%;margin:0;overflow:auto}</style><div style="height:3000px"></div><button class=t>T</button>',
}
const hidden: Cases = {
  'display none': '<button class=t style="display:none">T</button>',
  visibility: '<div style="visibility:hidden"><button class=t>T</button></div>',
  collapse: '<table><tr class=t style="visibility:collapse"><td>a</table>',
  'opacity own': '<button class=t style="opacity:0">T</button>',
  'opacity above': '<div style="opacity:0"><button class=t>T</button></div>',
  left: '<button class=t style="position:absolute;left:-9999px">T</button>',
  'left relative': '<button class=t style="position:relative;left:-9999px">T</button>',
  top: '<button class=t style="position:absolute;top:-500px">T</button>',
  margin: '<button class=t style="margin-left:-9999px">T</button>',
  'text-indent parent': '<div style="text-indent:-9999px"><span class=t>T</span></div>',
  'transform fixed':
    '<nav style="position:fixed;left:0;width:200px;transform:translateX(-100%)"><button class=t>T</button></nav>',
  'transform fixed right':
    '<nav style="position:fixed;right:0;width:200px;transform:translateX(100%)"><button class=t>T</button></nav>',
  sheet:
    '<nav style="position:fixed;bottom:0;width:200px;transform:translateY(100%)"><button class=t>T</button></nav>',
  'fixed scroller':
    '<aside style="position:fixed;left:0;transform:translateX(-100%)"><div style="overflow:auto;width:200px;height:90px"><button class=t>T</button></div></aside>',
  'scale 0': '<div style="transform:scale(0)"><button class=t>T</button></div>',
  'scaleX 0': '<div style="scale:0 1"><button class=t>T</button></div>',
  'width 0': '<div style="width:0;overflow:hidden"><button class=t>T</button></div>',
  'height 0': '<div style="height:0;overflow:hidden"><button class=t>T</button></div>',
  'height 0 clip': '<div style="height:0;overflow:clip"><button class=t>T</button></div>',
  'height 0 auto': '<div style="height:0;overflow:auto"><button class=t>T</button></div>',
  'max-height 0 nested':
    '<div style="max-height:0;overflow-y:hidden"><section><div><button class=t>T</button></div></section></div>',
  'grid rows 0fr':
    '<div style="display:grid;grid-template-rows:0fr"><div style="overflow:hidden;min-height:0"><button class=t>T</button></div></div>',
  'own size 0':
    '<button class=t style="width:0;height:0;padding:0;border:0;overflow:hidden">T</button>',
  'own size 0, text': '<div class=t style="height:0">Text</div>',
  'zero wrapper clipped': '<div class=t style="height:0;overflow:hidden"><button>T</button></div>',
  'clip-path': '<div style="clip-path:inset(100%)"><button class=t>T</button></div>',
  'clip-path wipe': '<div style="clip-path:inset(0 100% 0 0)"><button class=t>T</button></div>',
  'clip-path circle': '<div style="clip-path:circle(0)"><button class=t>T</button></div>',
  'clip-path polygon':
    '<div style="clip-path:polygon(0 0, 0 0, 0 0)"><button class=t>T</button></div>',
  'clip-path fixed':
    '<div style="clip-path:inset(50%)"><button class=t style="position:fixed;left:50px">T</button></div>',
  clip: '<div style="position:absolute;clip:rect(0 0 0 0)"><button class=t>T</button></div>',
  'clip 1px':
    '<div style="position:absolute;clip:rect(1px,1px,1px,1px)"><button class=t>T</button></div>',
  'sr-only':
    '<span class=t style="position:absolute;width:1px;height:1px;padding:0;margin:-1px;overflow:hidden;clip:rect(0,0,0,0);border:0">T</span>',
  'sr-only new':
    '<span class=t style="position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)">T</span>',
  '1px': '<span class=t style="display:inline-block;width:1px;height:1px;overflow:hidden">T</span>',
  details: '<details><summary>S</summary><button class=t>T</button></details>',
  'content-visibility': '<div style="content-visibility:hidden"><button class=t>T</button></div>',
  'until-found': '<div hidden=until-found><button class=t>T</button></div>',
  carousel:
    '<div style="width:100px;overflow:hidden"><div style="width:900px"><button class=t style="margin-left:400px">T</button></div></div>',
  'carousel clip x':
    '<div style="width:100px;overflow-x:clip"><div style="width:900px"><button class=t style="margin-left:400px">T</button></div></div>',
  'left in scroller':
    '<div style="overflow:auto;position:relative;height:60px"><button class=t style="position:absolute;left:-9999px">T</button></div>',
  'rtl right':
    '<div dir=rtl style="overflow:auto;position:relative;height:60px"><button class=t style="position:absolute;right:-9999px">T</button></div>',
  'scroller clipped':
    '<div style="height:0;overflow:hidden"><div style="height:60px;overflow:auto"><button class=t>T</button></div></div>',
  'contents in none':
    '<div style="display:none"><x-b class=t style="display:contents"><button>T</button></x-b></div>',
  'contents opacity':
    '<div style="opacity:0"><x-b class=t style="display:contents"><button>T</button></x-b></div>',
  'contents text opacity':
    '<div style="opacity:0"><x-b class=t style="display:contents">T</x-b></div>',
  'switch hidden with label':
    '<div style="opacity:0"><label style="position:relative;display:inline-block;width:60px;height:30px"><input class=t type=checkbox style="opacity:0;position:absolute;inset:0;width:100%;height:100%"></label></div>',
  'checkbox none': '<input class=t type=checkbox hidden><p>Text</p>',
  'option of hidden': '<select hidden><option class=t>1</select>',
  'area of hidden': '<img usemap="#m" hidden><map name=m><area class=t></map>',
  'fixed in transformed clip':
    '<div style="height:0;overflow:hidden;transform:translate(0)"><button class=t style="position:fixed">T</button></div>',
  'absolute in positioned clip':
    '<div style="height:0;overflow:hidden;position:relative"><button class=t style="position:absolute">T</button></div>',
  'closed dialog': '<dialog><button class=t>T</button></dialog>',
  'closed popover': '<div popover><button class=t>T</button></div>',
  'shadow clip':
    '<div data-shadow="<section style=\'height:0;overflow:hidden\'><slot></slot></section>"><button class=t>T</button></div>',
  'right of a page that does not scroll there':
    '<style>body{overflow-x:hidden}</style><button class=t style="position:absolute;right:-300px">T</button>',
  'right of a page from right to left':
    '<div data-page="rtl"><button class=t style="position:absolute;right:-9999px">T</button></div>',
  'shell of a page, drawer moved out':
    '<style>html,body{height:100%;margin:0}</style><main style="position:relative;height:100vh;overflow:hidden"><aside style="position:absolute;right:0;transform:translateX(100%)"><button class=t>T</button></aside></main>',
}

/** The names of the cases that are judged wrongly. */
const wrong = (cases: Cases, isVisible: boolean) => `${JSON.stringify(Object.entries(cases))}
  .filter(([, html]) => {
    fill(html)
    document.documentElement.dir = document.querySelector('[data-page]')?.dataset.page ?? ''
    for (const one of document.querySelectorAll('[data-scroll]')) one.scrollTop = one.dataset.scroll
    for (const one of document.querySelectorAll('[data-modal]')) one.showModal()
    const inside = () => document.querySelector('[data-shadow]').shadowRoot.querySelector('.t')
    return window.isVisible(document.querySelector('.t') ?? inside()) !== ${isVisible}
  })
  .map(([name]) => name)`

/** Pages where the box of `.t` is the box of `.seen`. */
const boxes: Cases = {
  'children of display: contents':
    '<x-b class=t style="display:contents"><p class=seen>T</p></x-b>',
  'label around a checkbox': '<label class=seen><input class=t type=checkbox hidden>On</label>',
  'label of a radio button for screen readers':
    '<input class=t id=r type=radio style="position:absolute;width:1px;height:1px;clip-path:inset(50%)"><label class=seen for=r>On</label>',
  'control drawn beside it':
    '<select class=t style="position:absolute;width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden"><option>1</select><span class=seen style="display:inline-block;width:90px">Drawn</span>',
  'list of an option': '<select class=seen><option class=t>one<option>two</select>',
  'part of an image': `<div style="position:relative"><img usemap="#m" width=200 height=100 alt><map name=m><area class=t shape=circle coords="50,40,20" href="#"></map>
      <i class=seen style="position:absolute;left:30px;top:20px;width:40px;height:40px"></i></div>`,
  'content of an empty wrapper':
    '<div class=t style="height:0"><p class=seen style="position:absolute">T</p></div>',
}

const wrongBoxes = `${JSON.stringify(Object.entries(boxes))}
  .filter(([, html]) => {
    fill(html)
    const edges = ({ left, top, right, bottom }) => String([left, top, right, bottom].map(Math.round))
    const seen = document.querySelector('.seen').getBoundingClientRect()
    return edges(boxOf(document.querySelector('.t'))) !== edges(seen)
  })
  .map(([name]) => name)`

/** Requires that every case is judged correctly on the stage's page, in any browser. */
export const judgesVisibility = async (evaluate: (expression: string) => Promise<unknown>) => {
  expect(await evaluate(wrong(visible, true))).toEqual([])
  expect(await evaluate(wrong(hidden, false))).toEqual([])
  expect(await evaluate(wrongBoxes)).toEqual([])
}
