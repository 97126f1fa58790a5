import { expect, test } from 'vitest'
import { specialAddresses } from '../../test/special-addresses.ts'
import { isPublicAddress } from './public-address.ts'

const open = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2003::1',
  '2606:4700:4700::1111',
  '2a00:1450:4001::200e',
]

test.each(specialAddresses)('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each(open)('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each(['', 'localhost', '127.1', '0x7f.1', '[::1]', '1.1.1.1:80'])(
  'treats %j as not public, since it is not an address',
  (text) => {
    expect(isPublicAddress(text)).toBe(false)
  },
)
