// What STS is called in each region of each of AWS's partitions. Always the region's own: outside the commercial partition
// there is no other, and authenticators take no other there.
import { AwsError } from './errors.ts'

// By the beginning of the region's name (partitions.json of the AWS SDKs). What is not here is commercial or GovCloud.
const suffixes: readonly (readonly [string, string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['us-isof-', 'csp.hci.ic.gov'],
]

export function stsHost(region: string): string {
  // It becomes part of a host to which an identity is shown.
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(region))
    throw new AwsError({
      doing: 'find STS',
      why: `${JSON.stringify(region)} is no region`,
      mend: 'write one such as ap-northeast-1',
      isFinal: true,
    })
  const [, suffix] = suffixes.find(([beginning]) => region.startsWith(beginning)) ?? ['', 'amazonaws.com']
  return `sts.${region}.${suffix}`
}
