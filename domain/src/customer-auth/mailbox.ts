const dotlessDomains: ReadonlySet<string> = new Set(['gmail.com', 'googlemail.com'])

/**
 * Returns a key of the mailbox to which an address most likely leads: the address without `+tag`, and at Gmail also
 * without dots. The key is only used to count messages and never to identify a person, because at other providers such
 * addresses may belong to different people.
 */
export function mailboxKey(email: string): string {
  const at = email.lastIndexOf('@')
  const domain = email.slice(at + 1).toLowerCase()
  const [local = ''] = email.slice(0, at).toLowerCase().split('+')
  if (!dotlessDomains.has(domain)) return `${local}@${domain}`
  return `${local.replaceAll('.', '')}@gmail.com`
}
