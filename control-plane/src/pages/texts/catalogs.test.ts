import { renderToStaticMarkup } from 'react-dom/server'
import { createElement } from 'react'
import { expect, test } from 'vitest'
import { catalogFaults, faultsOf } from './faults.ts'
import { textsFor } from './texts.ts'

const count = (value: number | bigint): string => new Intl.NumberFormat('de').format(value)

test('have every text, plural form and value in every language', () => {
  expect(catalogFaults()).toEqual([])
})

test('report faults of a translation', () => {
  const english = { hi: 'Hi {{name}}', day_one: '{{count}} day', day_other: '{{count}} days' }
  const none = {}
  const wrong = { hi: 'Salut {{nom}}', day_one: '{{count}} jour', day_other: 'jours', more: '' }
  expect(faultsOf(english, english, 'en')).toEqual([])
  expect(faultsOf(none, english, 'ja')).toEqual(['hi is missing', 'day_other is missing'])
  expect(faultsOf(wrong, english, 'fr')).toEqual([
    'hi: {{name}} is missing',
    'hi: {{nom}} is not in English',
    'day_many is missing',
    'day_other: {{count}} is missing',
    'more is not in English',
  ])
})

test('choose the plural form and format the number for the reader', () => {
  const t = textsFor('de', count)
  expect(t('shared:requests', { count: 1 })).toBe('1 Anfrage')
  expect(t('shared:requests', { count: 1_000 })).toBe('1.000 Anfragen')
  expect(textsFor('fr', count)('shared:requests', { count: 1_000_000 })).toBe(
    '1.000.000 de requêtes',
  )
})

test('insert values unchanged, whatever they contain', () => {
  const t = textsFor('en', count)
  const hostile = '<b>{{count}}</b> $t(shared:tryAgain) \\u0000'
  expect(t('shared:accountWith', { name: hostile })).toContain(hostile)
})

test('insert elements at their names', () => {
  const t = textsFor('en', count)
  const name = createElement('a', { href: '/' }, 'A & B')
  const page = createElement('p', null, t.rich('shared:accountWith', { name }))
  expect(renderToStaticMarkup(page)).toBe('<p>Your account with <a href="/">A &amp; B</a></p>')
})
