import { expect, test } from 'vitest'
import { takeStatements } from './take-statements.ts'

test.each([
  ['SELECT 1; SELECT 2;\n', ['SELECT 1', 'SELECT 2'], '\n'],
  ['SELECT 1\n', [], 'SELECT 1\n'],
  [';;SELECT 1;', ['SELECT 1'], ''],
  [
    `SELECT ';', ";", \`;\`, 'it\\'s;' -- ;\n/* ; */ / 2 - 1; rest`,
    [`SELECT ';', ";", \`;\`, 'it\\'s;' -- ;\n/* ; */ / 2 - 1`],
    ' rest',
  ],
  [`SELECT 'open;`, [], `SELECT 'open;`],
  ['SELECT /* open;', [], 'SELECT /* open;'],
])('splits %j', (text, statements, rest) => {
  expect(takeStatements(text)).toEqual({ statements, rest })
})
