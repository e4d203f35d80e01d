/** Addresses of the page. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { linkHref, mirrorHref } from './live/problems.ts'
import { parsePlace } from './place.ts'

test('an address names a view, and what is not understood is the overview', () => {
  deepEqual(parsePlace(''), { view: 'overview' })
  deepEqual(parsePlace('#/nothing/such'), { view: 'overview' })
  deepEqual(parsePlace('#/events'), { view: 'events' })
  deepEqual(parsePlace('#/links/west'), { view: 'link', link: 'west', tab: 'mirrors', status: undefined })
  deepEqual(parsePlace('#/links/west?status=FAILED'), { view: 'link', link: 'west', tab: 'mirrors', status: 'FAILED' })
  deepEqual(parsePlace('#/links/west/tasks'), { view: 'link', link: 'west', tab: 'tasks', status: undefined })
  deepEqual(parsePlace('#/links/%zz'), { view: 'link', link: '%zz', tab: 'mirrors', status: undefined })
})

test('names may hold anything', () => {
  const [link, topic] = ['a/b?c', 'Ü #1/2']
  deepEqual(parsePlace(mirrorHref(link, topic)), { view: 'mirror', link, topic })
  deepEqual(parsePlace(linkHref(link)), { view: 'link', link, tab: 'mirrors', status: undefined })
})
