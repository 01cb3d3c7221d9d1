// A moment as Kubernetes writes it in Leases and Events. Its parser wants six digits of a second, no fewer.

export function microTime(moment: Date): string {
  return moment.toISOString().replace('Z', '000Z')
}
