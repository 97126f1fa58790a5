import { expect, test } from 'vitest'
import { isAllowedLink, linkHosts, normalLinkHost } from './link-hosts.ts'

test.each([
  ['shop.example', 'shop.example'],
  ['Shop.EXAMPLE', 'shop.example'],
  ['shop.example.', 'shop.example'],
  ['*.shop.example', '*.shop.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['*.BÜCHER.example', '*.xn--bcher-kva.example'],
  ['localhost', 'localhost'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]', '[::1]'],
])('converts %s to the host %s', (text, host) => {
  expect(normalLinkHost(text)).toBe(host)
})

test.each([
  '',
  '.',
  '*',
  '*.',
  '*.*.example',
  'shop.*',
  'https://shop.example',
  'shop.example/path',
  'shop.example:8080',
  'shop.example:80',
  'shop.example:',
  '[::1]:80',
  '[::1]:',
  'user@shop.example',
  'shop.example?x',
  'shop.example#x',
  'shop example',
  'shop.example\n',
  '%73hop.example',
  'shop\\.example',
])('refuses %j as a host', (text) => {
  expect(normalLinkHost(text)).toBeUndefined()
  expect(linkHosts.safeParse([text]).success).toBe(false)
})

test.each([
  [null, 'https://anything.example/', true],
  [['shop.example'], 'https://shop.example/done?x=1#y', true],
  [['shop.example'], 'HTTPS://SHOP.EXAMPLE:8443/', true],
  [['shop.example'], 'https://shop.example./', true],
  [['shop.example'], 'https://pay.shop.example/', false],
  [['shop.example'], 'https://shop.example.evil.example/', false],
  [['shop.example'], 'https://evilshop.example/', false],
  [['shop.example'], 'https://evil.example/?shop.example', false],
  [['*.shop.example'], 'https://pay.shop.example/', true],
  [['*.shop.example'], 'https://a.b.shop.example./', true],
  [['*.shop.example'], 'https://shop.example/', false],
  [['*.shop.example'], 'https://evilshop.example/', false],
  [['xn--bcher-kva.example'], 'https://bücher.example/', true],
  [['127.0.0.1'], 'http://2130706433/', true],
  [['a.example', 'b.example'], 'https://b.example/', true],
  [['shop.example'], 'not an address', false],
])('with the hosts %j, a link to %s is allowed: %s', (hosts, address, isAllowed) => {
  expect(isAllowedLink(hosts, address)).toBe(isAllowed)
})
