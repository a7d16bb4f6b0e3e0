/*
 * host_company.c - who is in a view, and in which regions: most groups have the same as many
 * others, so that each such set is kept once, however many groups it is that of.
 */
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/host.h"

static uint64_t hash_of(const uint64_t *members, uint32_t member_count,
                        qsm_host_region *const *regions, uint32_t region_count) {
    uint64_t hash = qsm_mix64(member_count);
    for (uint32_t i = 0; i < member_count; i++)
        hash = qsm_mix64(hash ^ members[i]);
    for (uint32_t i = 0; i < region_count; i++)
        hash = qsm_mix64(hash ^ regions[i]->uid);
    return hash;
}

static bool is_same(const qsm_host_company *company, const uint64_t *members, uint32_t member_count,
                    qsm_host_region *const *regions, uint32_t region_count) {
    return company->member_count == member_count && company->region_count == region_count &&
           memcmp(company->members, members, member_count * sizeof *members) == 0 &&
           (region_count == 0 ||
            memcmp(company->regions, regions, region_count * sizeof *regions) == 0);
}

static qsm_host_company *make(qsm_host *host, uint64_t hash, const uint64_t *members,
                              uint32_t member_count, qsm_host_region *const *regions,
                              uint32_t region_count) {
    qsm_host_company *company = calloc(1, sizeof *company + member_count * sizeof *members +
                                              region_count * sizeof *regions);
    if (company == NULL) return NULL;
    company->hash = hash;
    company->member_count = member_count;
    company->region_count = region_count;
    company->members = (uint64_t *)(company + 1);
    company->regions = (qsm_host_region **)(company->members + member_count);
    memcpy(company->members, members, member_count * sizeof *members);
    if (region_count > 0) memcpy(company->regions, regions, region_count * sizeof *regions);
    company->next_same_hash = qsm_table_get(&host->companies, hash);
    if (qsm_table_put(&host->companies, hash, company)) return company;
    free(company);
    return NULL;
}

qsm_host_company *qsm_host_company_use(qsm_host *host, const uint64_t *members,
                                       uint32_t member_count, qsm_host_region *const *regions,
                                       uint32_t region_count) {
    uint64_t hash = hash_of(members, member_count, regions, region_count);
    qsm_host_company *company = qsm_table_get(&host->companies, hash);
    while (company != NULL && !is_same(company, members, member_count, regions, region_count))
        company = company->next_same_hash;
    if (company == NULL) company = make(host, hash, members, member_count, regions, region_count);
    if (company != NULL) company->uses++;
    return company;
}

void qsm_host_company_unuse(qsm_host *host, qsm_host_company *company) {
    if (company == NULL || --company->uses > 0) return;
    qsm_host_company *before = qsm_table_get(&host->companies, company->hash);
    if (before == company) {
        qsm_table_remove(&host->companies, company->hash);
        if (company->next_same_hash != NULL) /* where there was room */
            (void)qsm_table_put(&host->companies, company->hash, company->next_same_hash);
    } else {
        while (before->next_same_hash != company)
            before = before->next_same_hash;
        before->next_same_hash = company->next_same_hash;
    }
    free(company);
}
