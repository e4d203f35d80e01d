/** Filters of names against a second way of saying what they mean, for any filters and names. */
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decidingFilters, isSelected, type NameFilter } from './name-filters.ts'

const name = fc.stringMatching(/^[ab.]{1,4}$/)
const filter: fc.Arbitrary<NameFilter> = fc.record({
  name: fc.oneof(name, fc.constant('*')),
  patternType: fc.constantFrom('LITERAL' as const, 'PREFIXED' as const),
  filterType: fc.constantFrom('INCLUDE' as const, 'EXCLUDE' as const),
  topicTypes: fc.constant(['LOCAL_MIRROR' as const]),
})

const expression = ({ name: pattern, patternType }: NameFilter): RegExp => {
  if (pattern === '*' && patternType === 'LITERAL') return /^.*$/
  const quoted = pattern.replace(/[.*]/g, '\\$&')
  return new RegExp(patternType === 'LITERAL' ? `^${quoted}$` : `^${quoted}`)
}

test('a name is selected if an INCLUDE filter matches and no EXCLUDE does, in whatever order they stand', () => {
  fc.assert(
    fc.property(fc.array(filter, { maxLength: 6 }), name, (filters, topic) => {
      const matching = filters.filter(one => expression(one).test(topic)).map(({ filterType }) => filterType)
      const expected = matching.includes('INCLUDE') && !matching.includes('EXCLUDE')
      equal(isSelected(filters, topic), expected)
      equal(isSelected([...filters].reverse(), topic), expected)
    }),
  )
})

test('the filters that decide are among those that match, and an excluded name always has its filter', () => {
  fc.assert(
    fc.property(fc.array(filter, { maxLength: 6 }), name, (filters, topic) => {
      const { include, exclude } = decidingFilters(filters, topic)
      for (const found of [include, exclude]) if (found) equal(expression(found).test(topic), true)
      const isExcluded = filters.some(one => one.filterType === 'EXCLUDE' && expression(one).test(topic))
      equal(exclude !== undefined, isExcluded)
    }),
  )
})
