import java.io.File;
import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/** From a CSV file to a CSV file: k-anonymity, the loss metric, its default search. It is compiled where it is used. */
public class Anonymize {
    public static void main(String[] call) throws Exception {
        String source = call[0], target = call[1];
        int k = Integer.parseInt(call[2]);
        double suppression = Double.parseDouble(call[3]);
        Data data = Data.create(source, StandardCharsets.UTF_8, ';');
        Set<String> quasi = new HashSet<>();
        for (String pair : Arrays.copyOfRange(call, 4, call.length)) { // column=hierarchy.csv
            int at = pair.indexOf('=');
            quasi.add(pair.substring(0, at));
            data.getDefinition().setAttributeType(
                pair.substring(0, at), Hierarchy.create(new File(pair.substring(at + 1)), StandardCharsets.UTF_8, ';'));
        }
        DataHandle input = data.getHandle();
        for (int column = 0; column < input.getNumColumns(); column++) {
            if (!quasi.contains(input.getAttributeName(column))) {
                data.getDefinition().setAttributeType(input.getAttributeName(column), AttributeType.INSENSITIVE_ATTRIBUTE);
            }
        }
        ARXConfiguration asked = ARXConfiguration.create();
        asked.addPrivacyModel(new KAnonymity(k));
        asked.setSuppressionLimit(suppression);
        asked.setQualityModel(Metric.createLossMetric(0.5));
        long started = System.nanoTime();
        ARXResult result = new ARXAnonymizer().anonymize(data, asked);
        double search = (System.nanoTime() - started) / 1e9;
        if (!result.isResultAvailable()) {
            System.err.println("ARX found no release");
            System.exit(1);
        }
        DataHandle output = result.getOutput(false);
        try (FileOutputStream file = new FileOutputStream(target)) {
            output.save(file, ';');
        }
        System.out.printf(java.util.Locale.ROOT, "{\"search\": %.3f, \"levels\": \"%s\"}%n",
            search, Arrays.toString(result.getGlobalOptimum().getTransformation()));
    }
}
