import { isWithin } from './names.ts';

/**
 * Where a name that does not exist can be created by anybody with an account, by the suffix of the name. Microsoft's
 * list of resources that leave dangling records ("Prevent dangling DNS entries and avoid subdomain takeover",
 * learn.microsoft.com/azure/security/fundamentals/subdomain-takeover), and what EdOverflow/can-i-take-over-xyz on GitHub
 * lists as vulnerable by NXDOMAIN. Services that answer for names of nobody are not here: only a web page would tell.
 */
const providers: readonly (readonly [suffix: string, provider: string])[] = [
  ['azurewebsites.net', 'Azure App Service'],
  ['cloudapp.azure.com', 'Azure'],
  ['cloudapp.net', 'Azure Cloud Services'],
  ['trafficmanager.net', 'Azure Traffic Manager'],
  ['blob.core.windows.net', 'Azure Blob Storage'],
  ['azureedge.net', 'Azure CDN'],
  ['azurefd.net', 'Azure Front Door'],
  ['azure-api.net', 'Azure API Management'],
  ['azurecontainer.io', 'Azure Container Instances'],
  ['elasticbeanstalk.com', 'AWS Elastic Beanstalk'],
];

/** The provider at which anybody may claim a name that does not exist; null if none is known. */
export const claimableAt = (name: string): string | null =>
  providers.find(([suffix]) => name !== suffix && isWithin(name, suffix))?.[1] ?? null;
