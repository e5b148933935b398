-- The kernels of run ?1 whose rows are between ?2 and ?3. The program adds
-- SELECT and the columns of lab_kernel_fields before it, and after
-- it whether those between steps are left out, ORDER BY and LIMIT ?4.
FROM op_kernel AS o
JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = o.kernelRow
LEFT JOIN step AS s ON s.runId = o.runId AND s.exec = o.stepExec
LEFT JOIN StringIds AS stepName ON stepName.id = s.nameId
LEFT JOIN ENUM_LAB_PHASE AS phaseName ON phaseName.id = s.phase
LEFT JOIN StringIds AS demangled ON demangled.id = k.demangledName
LEFT JOIN StringIds AS short ON short.id = k.shortName
WHERE o.kernelRow BETWEEN ?2 AND ?3
  AND o.runId = ?1
