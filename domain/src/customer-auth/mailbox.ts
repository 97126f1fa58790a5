const dotlessDomains: ReadonlySet<string> = new Set(['gmail.com', 'googlemail.com'])

/**
 * Returns a key of the mailbox that an address most likely leads to: without `+tag`, and at Gmail without dots. It counts what is sent,
 * and never says who somebody is: at other providers such addresses may be of several people.
 */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@')
  const domain = email.slice(at + 1).toLowerCase()
  const [local = ''] = email.slice(0, at).toLowerCase().split('+')
  if (!dotlessDomains.has(domain)) return `${local}@${domain}`
  return `${local.replaceAll('.', '')}@gmail.com`
}
