import { describe, expect, it } from 'vitest'
import { isPlainSelect, parseInsert, placeholderNames } from './statement.ts'

describe('the target of an INSERT with rows', () => {
  it.each([
    ['INSERT INTO t FORMAT JSONEachRow', 't', undefined],
    ['insert into live.usage_records format JSONEachRow ;\n', 'live.usage_records', undefined],
    ['INSERT INTO TABLE `live`.`t` (`a`, b,\n c) FORMAT CSV', 'live.t', ['a', 'b', 'c']],
    ['  INSERT INTO t(a)FORMAT JSONEachRow', 't', ['a']],
  ])('%s', (text, table, columns) => {
    expect(parseInsert(text)).toMatchObject({ table, columns })
  })

  it.each([
    'INSERT INTO t SELECT 1 FORMAT JSONEachRow',
    'INSERT INTO t VALUES (1)',
    'INSERT INTO t (* EXCEPT (a)) FORMAT JSONEachRow',
    `INSERT INTO t FROM INFILE '/etc/passwd' FORMAT JSONEachRow`,
    'INSERT INTO FUNCTION file(x) FORMAT JSONEachRow',
    'INSERT INTO t FORMAT JSONEachRow {"a":1}',
    'SELECT 1 FORMAT JSONEachRow',
  ])('is not found in %s', (text) => {
    expect(parseInsert(text)).toBeUndefined()
  })
})

describe('a statement that leaves nothing in its session', () => {
  it.each([
    ['SELECT 1', true],
    ['\n with 1 AS a SELECT a', true],
    ['SELECT 1; SET max_threads = 1', false],
    ['SET max_threads = 1', false],
    ['/* why */ SELECT 1', false],
    ['CREATE TEMPORARY TABLE t (a UInt8)', false],
    ['SELECTED', false],
  ])('%s: %s', (text, expected) => {
    expect(isPlainSelect(text)).toBe(expected)
  })
})

it('finds every placeholder, including look-alikes', () => {
  expect(placeholderNames(`SELECT {a:String}, { b : UInt8 }, '{c:String}', map{1}, {}`)).toEqual([
    'a',
    'b',
    'c',
  ])
})
